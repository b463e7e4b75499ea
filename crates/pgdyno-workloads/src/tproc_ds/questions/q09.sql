-- Question 9: for each fifth of the quantities, the mean discount if there are more sales than a threshold, else the
--   mean net paid. One scan makes the five.
--   The thresholds are those of scale factor 1: with more sales each fifth has more, and the time is the same.
--: THRESHOLDS[5] = 74129,122840,56580,10097,165306 | distinct(1, 333333)
--: MANY = ss_ext_discount_amt | one_of(ss_ext_discount_amt, ss_ext_sales_price, ss_ext_list_price, ss_ext_tax)
--: FEW = ss_net_paid | one_of(ss_net_paid, ss_net_paid_inc_tax, ss_net_profit)
with fifth as (
       select (ss_quantity - 1) / 20 as n, count(*) as sales, avg([MANY]) as many, avg([FEW]) as few
         from store_sales
        where ss_quantity between 1 and 100
        group by 1),
     chosen as (
       select n, case when sales > threshold then many else few end as mean
         from fifth
         join (values (0, [THRESHOLDS.1]), (1, [THRESHOLDS.2]), (2, [THRESHOLDS.3]), (3, [THRESHOLDS.4]),
                      (4, [THRESHOLDS.5])) as limits (n, threshold) using (n))
select max(mean) filter (where n = 0) as bucket1,
       max(mean) filter (where n = 1) as bucket2,
       max(mean) filter (where n = 2) as bucket3,
       max(mean) filter (where n = 3) as bucket4,
       max(mean) filter (where n = 4) as bucket5
  from chosen
