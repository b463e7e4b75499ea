-- Question 41: products of forty manufacturers that make clothes in one of eight sets of colour, unit and size.
--: MANUFACTURER = 738 | uniform(667, 1000)
--: SIZES[6] = medium,extra large,N/A,small,petite,petite | distinct(sizes)
--: COLORS[16] = powder,khaki,brown,honeydew,floral,deep,light,cornflower,midnight,snow,cyan,papaya,orange,frosted,forest,ghost | distinct(colors)
--: UNITS[16] = Ounce,Oz,Bunch,Ton,N/A,Dozen,Box,Pound,Pallet,Gross,Cup,Dram,Each,Tbl,Lb,Bundle | distinct(units)
with made as (
       select distinct i_manufact
         from item
         join (values ('Women', '[COLORS.1]', '[COLORS.2]', '[UNITS.1]', '[UNITS.2]', '[SIZES.1]', '[SIZES.2]'),
                      ('Women', '[COLORS.3]', '[COLORS.4]', '[UNITS.3]', '[UNITS.4]', '[SIZES.3]', '[SIZES.4]'),
                      ('Men', '[COLORS.5]', '[COLORS.6]', '[UNITS.5]', '[UNITS.6]', '[SIZES.5]', '[SIZES.6]'),
                      ('Men', '[COLORS.7]', '[COLORS.8]', '[UNITS.7]', '[UNITS.8]', '[SIZES.1]', '[SIZES.2]'),
                      ('Women', '[COLORS.9]', '[COLORS.10]', '[UNITS.9]', '[UNITS.10]', '[SIZES.1]', '[SIZES.2]'),
                      ('Women', '[COLORS.11]', '[COLORS.12]', '[UNITS.11]', '[UNITS.12]', '[SIZES.3]', '[SIZES.4]'),
                      ('Men', '[COLORS.13]', '[COLORS.14]', '[UNITS.13]', '[UNITS.14]', '[SIZES.5]', '[SIZES.6]'),
                      ('Men', '[COLORS.15]', '[COLORS.16]', '[UNITS.15]', '[UNITS.16]', '[SIZES.1]', '[SIZES.2]'))
              as variant (category, color1, color2, unit1, unit2, size1, size2)
           on i_category = category
          and i_color in (color1, color2)
          and i_units in (unit1, unit2)
          and i_size in (size1, size2))
select distinct i_product_name
  from item
  join made using (i_manufact)
 where i_manufact_id between [MANUFACTURER] and [MANUFACTURER] + 40
 order by i_product_name
 limit 100
