-- Question 14: brands with class and category that were sold in stores, from the catalog and on the web in three years:
--   what each channel sold of them (quantity times list price, and lines) in November of the last year, where that is
--   more than the mean line of all channels in the three years; with totals of class, brand, channel and all. Each
--   channel is read once and summed by item: the sales are too many to be kept, the items are few. The second statement
--   compares, of the same brands and above the same mean, what stores sold in the week of a December day of the second
--   year with what they sold in the same week of the first.
--: YEAR = 1999 | uniform(1998, 2000)
--: DAY = 11 | uniform(1, 28)
with sold (channel, item, amount, lines, november_amount, november_lines) as (
       select 'store', ss_item_sk,
              sum(ss_quantity * ss_list_price), count(ss_quantity * ss_list_price),
              sum(ss_quantity * ss_list_price) filter (where d_year = [YEAR] + 2 and d_moy = 11),
              count(*) filter (where d_year = [YEAR] + 2 and d_moy = 11)
         from store_sales
         join date_dim on d_date_sk = ss_sold_date_sk
        where d_year between [YEAR] and [YEAR] + 2
        group by ss_item_sk
        union all
       select 'catalog', cs_item_sk,
              sum(cs_quantity * cs_list_price), count(cs_quantity * cs_list_price),
              sum(cs_quantity * cs_list_price) filter (where d_year = [YEAR] + 2 and d_moy = 11),
              count(*) filter (where d_year = [YEAR] + 2 and d_moy = 11)
         from catalog_sales
         join date_dim on d_date_sk = cs_sold_date_sk
        where d_year between [YEAR] and [YEAR] + 2
        group by cs_item_sk
        union all
       select 'web', ws_item_sk,
              sum(ws_quantity * ws_list_price), count(ws_quantity * ws_list_price),
              sum(ws_quantity * ws_list_price) filter (where d_year = [YEAR] + 2 and d_moy = 11),
              count(*) filter (where d_year = [YEAR] + 2 and d_moy = 11)
         from web_sales
         join date_dim on d_date_sk = ws_sold_date_sk
        where d_year between [YEAR] and [YEAR] + 2
        group by ws_item_sk),
     kind as (
       select channel, i_brand_id, i_class_id, i_category_id,
              sum(november_amount) as amount, sum(november_lines) as lines,
              sum(sum(amount)) over () / sum(sum(lines)) over () as mean_line,
              count(*) over (partition by i_brand_id, i_class_id, i_category_id) as channels
         from sold
         join item on i_item_sk = item
        group by channel, i_brand_id, i_class_id, i_category_id)
select channel, i_brand_id, i_class_id, i_category_id, sum(amount) as amount, sum(lines) as lines
  from kind
 where channels = 3
   and amount > mean_line
   and num_nulls(i_brand_id, i_class_id, i_category_id) = 0
 group by rollup (channel, i_brand_id, i_class_id, i_category_id)
 order by channel nulls first, i_brand_id nulls first, i_class_id nulls first, i_category_id nulls first
 limit 100
--;
with december_week as materialized (
       select d_week_seq, d_year
         from date_dim
        where d_year in ([YEAR], [YEAR] + 1)
          and d_moy = 12
          and d_dom = [DAY]),
     day as materialized (
       select d_date_sk,
              d_week_seq = (select d_week_seq from december_week where d_year = [YEAR]) as is_early,
              d_week_seq = (select d_week_seq from december_week where d_year = [YEAR] + 1) as is_late
         from date_dim
        where d_year between [YEAR] and [YEAR] + 2),
     sold (channel, item, amount, lines, early_amount, early_lines, late_amount, late_lines) as (
       select 'store', ss_item_sk, sum(ss_quantity * ss_list_price), count(ss_quantity * ss_list_price),
              sum(ss_quantity * ss_list_price) filter (where is_early), count(*) filter (where is_early),
              sum(ss_quantity * ss_list_price) filter (where is_late), count(*) filter (where is_late)
         from store_sales
         join day on d_date_sk = ss_sold_date_sk
        group by ss_item_sk
        union all
       select 'catalog', cs_item_sk, sum(cs_quantity * cs_list_price), count(cs_quantity * cs_list_price),
              null, null, null, null
         from catalog_sales
         join day on d_date_sk = cs_sold_date_sk
        group by cs_item_sk
        union all
       select 'web', ws_item_sk, sum(ws_quantity * ws_list_price), count(ws_quantity * ws_list_price),
              null, null, null, null
         from web_sales
         join day on d_date_sk = ws_sold_date_sk
        group by ws_item_sk),
     kind as (
       select channel, i_brand_id, i_class_id, i_category_id,
              sum(early_amount) as early_amount, sum(early_lines) as early_lines,
              sum(late_amount) as late_amount, sum(late_lines) as late_lines,
              sum(sum(amount)) over () / sum(sum(lines)) over () as mean_line,
              count(*) over (partition by i_brand_id, i_class_id, i_category_id) as channels
         from sold
         join item on i_item_sk = item
        group by channel, i_brand_id, i_class_id, i_category_id)
select channel, i_brand_id, i_class_id, i_category_id, late_amount, late_lines, early_amount, early_lines
  from kind
 where channel = 'store'
   and channels = 3
   and early_amount > mean_line
   and late_amount > mean_line
   and num_nulls(i_brand_id, i_class_id, i_category_id) = 0
 order by channel, i_brand_id, i_class_id, i_category_id
 limit 100
