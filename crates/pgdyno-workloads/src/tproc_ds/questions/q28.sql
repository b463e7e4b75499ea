-- Question 28: list prices of six ranges of quantity, each with a range of prices, coupons or costs: mean, number and
--   number of different ones. One scan makes the six.
--: PRICES[6] = 8,90,142,135,122,154 | distinct(0, 190)
--: COUPONS[6] = 459,2323,12214,6071,836,7326 | distinct(0, 18000)
--: COSTS[6] = 57,31,79,38,17,7 | distinct(0, 80)
with part (n, price, coupon, cost) as (
       values (1, [PRICES.1], [COUPONS.1], [COSTS.1]), (2, [PRICES.2], [COUPONS.2], [COSTS.2]),
              (3, [PRICES.3], [COUPONS.3], [COSTS.3]), (4, [PRICES.4], [COUPONS.4], [COSTS.4]),
              (5, [PRICES.5], [COUPONS.5], [COSTS.5]), (6, [PRICES.6], [COUPONS.6], [COSTS.6])),
     figure as (
       select n, avg(ss_list_price) as mean, count(ss_list_price) as prices, count(distinct ss_list_price) as different
         from store_sales
         join part on n = greatest((ss_quantity + 4) / 5, 1)
        where ss_quantity between 0 and 30
          and (ss_list_price between price and price + 10
               or ss_coupon_amt between coupon and coupon + 1000
               or ss_wholesale_cost between cost and cost + 20)
        group by n)
select max(mean) filter (where n = 1) as mean1, coalesce(max(prices) filter (where n = 1), 0) as prices1,
       coalesce(max(different) filter (where n = 1), 0) as different1,
       max(mean) filter (where n = 2) as mean2, coalesce(max(prices) filter (where n = 2), 0) as prices2,
       coalesce(max(different) filter (where n = 2), 0) as different2,
       max(mean) filter (where n = 3) as mean3, coalesce(max(prices) filter (where n = 3), 0) as prices3,
       coalesce(max(different) filter (where n = 3), 0) as different3,
       max(mean) filter (where n = 4) as mean4, coalesce(max(prices) filter (where n = 4), 0) as prices4,
       coalesce(max(different) filter (where n = 4), 0) as different4,
       max(mean) filter (where n = 5) as mean5, coalesce(max(prices) filter (where n = 5), 0) as prices5,
       coalesce(max(different) filter (where n = 5), 0) as different5,
       max(mean) filter (where n = 6) as mean6, coalesce(max(prices) filter (where n = 6), 0) as prices6,
       coalesce(max(different) filter (where n = 6), 0) as different6
  from figure
