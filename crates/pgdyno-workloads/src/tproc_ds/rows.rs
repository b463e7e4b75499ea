//! The rows of the 24 tables, from tpcdsgen. A chunk is a range of what tpcdsgen counts as rows: tickets and orders for sales and
//! returns, else rows.

use std::fmt::{Display, Write as _};

use pgdyno_workload::{CopyBuf, RowSource};
use tpcdsgen::config::{Session, Table};
use tpcdsgen::row::{
    CallCenterRowGenerator, CatalogPageRowGenerator, CatalogReturnsRowGenerator, CatalogSalesRowGenerator,
    CustomerAddressRowGenerator, CustomerDemographicsRowGenerator, CustomerRowGenerator, DateDimRowGenerator,
    HouseholdDemographicsRowGenerator, IncomeBandRowGenerator, InventoryRowGenerator, ItemRowGenerator,
    PromotionRowGenerator, ReasonRowGenerator, ShipModeRowGenerator, StoreReturnsRowGenerator, StoreRowGenerator,
    StoreSalesRowGenerator, TimeDimRowGenerator, WarehouseRowGenerator, WebPageRowGenerator, WebReturnsRowGenerator,
    WebSalesRowGenerator, WebSiteRowGenerator,
};

use super::scale::ScaleFactor;
use super::tables;

/// Tables by name, in the order of their creation.
pub(super) const TABLES: [(&str, Table); 24] = [
    ("call_center", Table::CallCenter),
    ("catalog_page", Table::CatalogPage),
    ("catalog_returns", Table::CatalogReturns),
    ("catalog_sales", Table::CatalogSales),
    ("customer", Table::Customer),
    ("customer_address", Table::CustomerAddress),
    ("customer_demographics", Table::CustomerDemographics),
    ("date_dim", Table::DateDim),
    ("household_demographics", Table::HouseholdDemographics),
    ("income_band", Table::IncomeBand),
    ("inventory", Table::Inventory),
    ("item", Table::Item),
    ("promotion", Table::Promotion),
    ("reason", Table::Reason),
    ("ship_mode", Table::ShipMode),
    ("store", Table::Store),
    ("store_returns", Table::StoreReturns),
    ("store_sales", Table::StoreSales),
    ("time_dim", Table::TimeDim),
    ("warehouse", Table::Warehouse),
    ("web_page", Table::WebPage),
    ("web_returns", Table::WebReturns),
    ("web_sales", Table::WebSales),
    ("web_site", Table::WebSite),
];

/// Rows of a chunk: about a megabyte.
const CHUNK_ROWS: u64 = 16_000;
/// Tickets or orders of a chunk of sales, each of about ten rows. tpcdsgen shuffles all items at the start of each chunk.
const CHUNK_SALES: u64 = 1_200;
/// Tickets or orders of a chunk of returns, each of about one row.
const CHUNK_RETURNS: u64 = 4_800;

/// How a column is written so that it is what the server returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// As tpcdsgen has it.
    Plain,
    /// Without blanks at its end: of type `char(n)`.
    Padded,
    /// With two digits after the point.
    Number,
}

/// The rows of a table.
pub(super) struct Rows {
    table: Table,
    session: Session,
    scale: u64,
    forms: Vec<Form>,
}

impl Rows {
    pub(super) fn of(table: Table, name: &str, scale: ScaleFactor) -> Self {
        let form = |(_, kind): (&str, &str)| match kind {
            kind if kind.starts_with("char(") => Form::Padded,
            kind if kind.starts_with("numeric(") => Form::Number,
            _ => Form::Plain,
        };
        let forms = tables::columns(name).map(form).collect();
        Self { table, session: scale.session(), scale: scale.rounded_up(), forms }
    }

    /// Returns the number of what is divided into chunks.
    fn units(&self) -> u64 {
        self.session.get_scaling().get_row_count(self.table)
    }

    fn unit_rows(&self) -> u64 {
        match self.table {
            Table::StoreSales | Table::CatalogSales | Table::WebSales => CHUNK_SALES,
            Table::StoreReturns | Table::CatalogReturns | Table::WebReturns => CHUNK_RETURNS,
            _ => CHUNK_ROWS,
        }
    }

    /// Writes a row of tpcdsgen's: fields that end with `|`, empty ones for NULL.
    fn row(&self, line: &str, out: &mut CopyBuf) {
        let mut rest = line.as_bytes();
        for form in &self.forms {
            let end = rest.iter().position(|byte| *byte == b'|').unwrap_or(rest.len());
            let (field, more) = rest.split_at(end);
            rest = more.get(1..).unwrap_or_default();
            let field = if *form == Form::Padded { field.trim_ascii_end() } else { field };
            match form {
                _ if field.is_empty() => out.null(),
                Form::Number if !field.contains(&b'.') => out.plain_with(|bytes| {
                    bytes.extend_from_slice(field);
                    bytes.extend_from_slice(b".00");
                }),
                _ => out.plain(field),
            };
        }
        out.end_row();
    }

    fn rows(&self, rows: impl Iterator<Item = impl Display>, out: &mut CopyBuf) {
        let mut line = String::new();
        for row in rows {
            line.clear();
            // A text takes everything.
            let _ = write!(line, "{row}");
            self.row(&line, out);
        }
    }

    /// Writes the rows of a range of what is divided, from 1, both ends included.
    fn range(&self, first: u64, last: u64, out: &mut CopyBuf) {
        macro_rules! from {
            ($generator:ident) => {{
                let mut rows = $generator::new(self.session.clone(), self.units());
                rows.set_source_row_range(first, last);
                self.rows(rows, out)
            }};
        }
        match self.table {
            Table::CallCenter => from!(CallCenterRowGenerator),
            Table::CatalogPage => from!(CatalogPageRowGenerator),
            Table::CatalogReturns => from!(CatalogReturnsRowGenerator),
            Table::CatalogSales => from!(CatalogSalesRowGenerator),
            Table::Customer => from!(CustomerRowGenerator),
            Table::CustomerAddress => from!(CustomerAddressRowGenerator),
            Table::CustomerDemographics => from!(CustomerDemographicsRowGenerator),
            Table::DateDim => from!(DateDimRowGenerator),
            Table::HouseholdDemographics => from!(HouseholdDemographicsRowGenerator),
            Table::IncomeBand => from!(IncomeBandRowGenerator),
            Table::Inventory => from!(InventoryRowGenerator),
            Table::Item => from!(ItemRowGenerator),
            Table::Promotion => from!(PromotionRowGenerator),
            Table::Reason => from!(ReasonRowGenerator),
            Table::ShipMode => from!(ShipModeRowGenerator),
            Table::Store => from!(StoreRowGenerator),
            Table::StoreReturns => from!(StoreReturnsRowGenerator),
            Table::StoreSales => from!(StoreSalesRowGenerator),
            Table::TimeDim => from!(TimeDimRowGenerator),
            Table::Warehouse => from!(WarehouseRowGenerator),
            Table::WebPage => from!(WebPageRowGenerator),
            Table::WebReturns => from!(WebReturnsRowGenerator),
            Table::WebSales => from!(WebSalesRowGenerator),
            Table::WebSite => from!(WebSiteRowGenerator),
            Table::DbgenVersion => {}
        }
    }
}

impl RowSource for Rows {
    fn chunks(&self) -> u64 {
        // A multiple of the scale factor, where there are as many: a resumable load commits chunks together that belong to one unit
        // of it.
        let (chunks, scale) = ((self.units() / self.unit_rows()).max(1), self.scale);
        if chunks < scale { chunks } else { chunks / scale * scale }
    }

    fn write(&self, chunk: u64, out: &mut CopyBuf) {
        let (units, chunks) = (self.units(), self.chunks());
        let begin = |chunk: u64| (u128::from(units) * u128::from(chunk) / u128::from(chunks)) as u64;
        self.range(begin(chunk) + 1, begin(chunk + 1), out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the rows of some chunks as text.
    fn text(name: &str, thousandths: u64, chunks: std::ops::Range<u64>) -> String {
        let rows = of(name, thousandths);
        let mut out = CopyBuf::new();
        chunks.for_each(|chunk| rows.write(chunk, &mut out));
        String::from_utf8(out.bytes().to_vec()).unwrap()
    }

    fn of(name: &str, thousandths: u64) -> Rows {
        let (name, table) = TABLES.into_iter().find(|(known, _)| *known == name).unwrap();
        Rows::of(table, name, ScaleFactor::of_thousandths(thousandths))
    }

    #[test]
    fn rows_are_dsdgen_s() {
        let first = |name| text(name, 1_000, 0..1).lines().next().unwrap().replace('\t', "|");
        assert_eq!(
            first("store_sales"),
            "2451813|65495|3617|67006|591617|3428|24839|10|161|1|79|11.41|18.71|2.80|99.54|221.20|901.39|1478.09|6.08|99.54|121.66|\
             127.74|-779.73"
        );
        assert_eq!(
            first("customer_address"),
            "1|AAAAAAAABAAAAAAA|18|Jackson |Parkway|Suite 280|Fairfield|Maricopa County|AZ|86192|United States|-7.00|condo"
        );
        assert!(first("store").contains("|1997-03-13|\\N|2451189|ought|245|"), "{}", first("store"));
    }

    #[test]
    fn chunks_are_the_whole_table_without_gaps() {
        for name in ["store_sales", "catalog_sales", "catalog_returns", "inventory", "item"] {
            let rows = of(name, 100);
            let mut whole = CopyBuf::new();
            rows.range(1, rows.units(), &mut whole);
            assert_eq!(rows.chunks() > 1, name != "item", "{name}");
            assert!(text(name, 100, 0..rows.chunks()).as_bytes() == whole.bytes(), "{name}");
        }
    }

    #[test]
    fn a_unit_of_the_scale_factor_has_a_whole_number_of_chunks() {
        for thousandths in [10, 1_000, 3_000, 300_000] {
            for (name, table) in TABLES {
                let scale = ScaleFactor::of_thousandths(thousandths);
                let chunks = Rows::of(table, name, scale).chunks();
                let whole = scale.rounded_up();
                assert!(chunks >= 1 && (chunks < whole || chunks.is_multiple_of(whole)), "{name} {thousandths}");
            }
        }
    }
}
