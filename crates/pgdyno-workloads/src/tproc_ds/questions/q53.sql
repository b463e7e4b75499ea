-- Question 53: quarters of a year in which the sales of a manufacturer differ by a tenth from the mean quarter, of
--   goods of two groups of categories, classes and brands.
--: MONTH_SEQ = 1200 | uniform(1176, 1224)
with quarter as (
       select i_manufact_id, sum(ss_sales_price) as sum_sales,
              avg(sum(ss_sales_price)) over (partition by i_manufact_id) as avg_quarterly_sales
         from item
         join store_sales on ss_item_sk = i_item_sk
         join date_dim on d_date_sk = ss_sold_date_sk
        where d_month_seq between [MONTH_SEQ] and [MONTH_SEQ] + 11
          and ss_store_sk is not null
          and (i_category in ('Books', 'Children', 'Electronics')
                 and i_class in ('personal', 'portable', 'reference', 'self-help')
                 and i_brand in ('scholaramalgamalg #14', 'scholaramalgamalg #7', 'exportiunivamalg #9',
                                 'scholaramalgamalg #9')
               or i_category in ('Women', 'Music', 'Men')
                 and i_class in ('accessories', 'classical', 'fragrances', 'pants')
                 and i_brand in ('amalgimporto #1', 'edu packscholar #1', 'exportiimporto #1', 'importoamalg #1'))
        group by i_manufact_id, d_qoy)
select i_manufact_id, sum_sales, avg_quarterly_sales
  from quarter
 where avg_quarterly_sales > 0
   and abs(sum_sales - avg_quarterly_sales) > 0.1 * avg_quarterly_sales
 order by avg_quarterly_sales, sum_sales, i_manufact_id
 limit 100
