use super::*;

#[test]
fn every_column_has_a_meaning_and_a_unit() {
    // Numbers that count from a first one, and quotients of equal units.
    let without_unit = [
        "deal",
        "rotation",
        "round",
        "decision",
        "rank",
        "rank_low",
        "rank_high",
        "rank_best_without_one",
        "rank_worst_without_one",
        "component",
        "field",
        "f",
        "f_numerator",
        "f_denominator",
        "misfit_f",
        "misfit_f_numerator",
        "misfit_f_denominator",
        "variance_ratio",
    ];
    for table in documented_tables() {
        assert!(table.row.ends_with('.'), "{}: {}", table.file, table.row);
        let file = table.file;
        for Column { name, kind, unit, meaning, .. } in table.columns {
            assert!(meaning.ends_with('.'), "{file}, {name}: {meaning}");
            let is_number = !["text", "boolean"].contains(&kind);
            assert_eq!(unit.is_some(), is_number && !without_unit.contains(&&*name), "{file}, {name}: {unit:?}");
        }
    }
}
