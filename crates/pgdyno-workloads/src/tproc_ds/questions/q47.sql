-- Question 47: months of a year in which each brand of a category in each store sold a tenth more or less than in the
--   mean month of the year, with the sales of the month before and the month after. Neighbouring months come from the row
--   before and after in a window, not from joins. Sales are summed by numbers first: long names are slow to sort.
--: YEAR = 1999 | uniform(1999, 2001)
with brand as (
       select i_item_sk, min(i_item_sk) over (partition by i_category, i_brand) as brand_sk
         from item
        where i_category is not null
          and i_brand is not null),
     sold as (
       select brand_sk, ss_store_sk, d_year, d_moy, sum(ss_sales_price) as sum_sales
         from store_sales
         join date_dim on d_date_sk = ss_sold_date_sk
         join brand on i_item_sk = ss_item_sk
        where d_year = [YEAR]
           or (d_year, d_moy) in (([YEAR] - 1, 12), ([YEAR] + 1, 1))
        group by brand_sk, ss_store_sk, d_year, d_moy),
     month as (
       select i_category, i_brand, s_store_name, s_company_name, d_year, d_moy, sum(sum_sales) as sum_sales
         from sold
         join item on i_item_sk = brand_sk
         join store on s_store_sk = ss_store_sk
        where s_store_name is not null
          and s_company_name is not null
        group by i_category, i_brand, s_store_name, s_company_name, d_year, d_moy),
     neighbour as (
       select i_category, i_brand, s_store_name, s_company_name, d_year, d_moy,
              avg(sum_sales) over (partition by i_category, i_brand, s_store_name, s_company_name, d_year) as avg_monthly_sales,
              sum_sales, lag(sum_sales) over months as psum, lead(sum_sales) over months as nsum,
              lag(d_moy) over months as before, lead(d_moy) over months as after
         from month
       window months as (partition by i_category, i_brand, s_store_name, s_company_name order by d_year, d_moy))
select i_category, i_brand, s_store_name, s_company_name, d_year, d_moy, avg_monthly_sales, sum_sales, psum, nsum
  from neighbour
 where d_year = [YEAR]
   and before is not null
   and after is not null
   and avg_monthly_sales > 0
   and abs(sum_sales - avg_monthly_sales) > 0.1 * avg_monthly_sales
 order by sum_sales - avg_monthly_sales, i_category, i_brand, s_store_name, s_company_name, d_year, d_moy
 limit 100
