-- Question 89: months of a year in which a store sold a tenth more or less of a class and brand than in the mean month.
--: YEAR = 1999 | uniform(1998, 2002)
--: CATEGORIES[6] = Books,Electronics,Sports,Men,Jewelry,Women | distinct(categories)
--: CLASSES[6] = computers,stereo,football,shirts,birdal,dresses | distinct(classes)
with month as (
       select i_category, i_class, i_brand, s_store_name, s_company_name, d_moy, sum(ss_sales_price) as sum_sales
         from item
         join store_sales on ss_item_sk = i_item_sk
         join date_dim on d_date_sk = ss_sold_date_sk
         join store on s_store_sk = ss_store_sk
        where d_year = [YEAR]
          and (i_category in ('[CATEGORIES.1]', '[CATEGORIES.2]', '[CATEGORIES.3]')
                 and i_class in ('[CLASSES.1]', '[CLASSES.2]', '[CLASSES.3]')
               or i_category in ('[CATEGORIES.4]', '[CATEGORIES.5]', '[CATEGORIES.6]')
                 and i_class in ('[CLASSES.4]', '[CLASSES.5]', '[CLASSES.6]'))
        group by i_category, i_class, i_brand, s_store_name, s_company_name, d_moy),
     compared as (
       select *, avg(sum_sales) over (partition by i_category, i_brand, s_store_name, s_company_name) as avg_monthly_sales
         from month)
select *
  from compared
 where avg_monthly_sales <> 0
   and abs(sum_sales - avg_monthly_sales) > 0.1 * avg_monthly_sales
 order by sum_sales - avg_monthly_sales, s_store_name, i_category, i_class, i_brand, s_company_name, d_moy
 limit 100
