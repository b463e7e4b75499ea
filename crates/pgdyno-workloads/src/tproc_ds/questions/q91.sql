-- Question 91: what returns by two kinds of customers of one time zone cost each call center in a month.
--: YEAR = 1998 | uniform(1998, 2002)
--: MONTH = 11 | uniform(11, 12)
--: POTENTIAL = Unknown | one_of(1001-5000, >10000, 501-1000, 0-500, Unknown, 5001-10000)
--: GMT = -7 | one_of(-6, -7)
with loss as (
       select cr_call_center_sk, cd_marital_status, cd_education_status, sum(cr_net_loss) as loss
         from catalog_returns
         join date_dim on d_date_sk = cr_returned_date_sk
         join customer on c_customer_sk = cr_returning_customer_sk
         join customer_address on ca_address_sk = c_current_addr_sk
         join household_demographics on hd_demo_sk = c_current_hdemo_sk
         join customer_demographics on cd_demo_sk = c_current_cdemo_sk
        where d_year = [YEAR]
          and d_moy = [MONTH]
          and hd_buy_potential like '[POTENTIAL]%'
          and ca_gmt_offset = [GMT]
          and (cd_marital_status, cd_education_status) in (('M', 'Unknown'), ('W', 'Advanced Degree'))
        group by cr_call_center_sk, cd_marital_status, cd_education_status)
select cc_call_center_id, cc_name, cc_manager, sum(loss) as loss
  from loss
  join call_center on cc_call_center_sk = cr_call_center_sk
 group by cc_call_center_id, cc_name, cc_manager, cd_marital_status, cd_education_status
 order by loss desc
