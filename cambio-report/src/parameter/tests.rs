use super::*;

#[test]
fn agents_differing_in_one_number_are_a_family() {
    let specs =
        ["greedy", "greedy(call_at=9)", "random(pass=0.9)", "greedy(call_at=3)", "mine(n=10,way=a)", "mine(n=1,way=b)"];
    let found = families(&specs);
    let members = vec![(3.0, 3), (5.0, 0), (9.0, 1)];
    assert_eq!(found, [Family { spec: "greedy(call_at=?)".into(), parameter: "call_at".into(), members }]);
    // Agents that this program does not have, and a grid of two parameters.
    let specs = ["mine(n=1,m=0)", "mine(n=3,m=0)", "mine(n=9,m=0)", "mine(n=9,m=1)", "mine(n=9,m=2)"];
    let specs: Vec<String> = families(&specs).into_iter().map(|family| family.spec).collect();
    assert_eq!(specs, ["mine(n=?,m=0)", "mine(n=9,m=?)"]);
}

#[test]
fn an_axis_is_logarithmic_if_the_steps_are() {
    for (values, expected) in [
        (&[10.0, 30.0, 100.0, 300.0][..], true),
        (&[1.0, 2.0, 4.0, 8.0, 16.0], true),
        (&[3.0, 5.0, 9.0], false),
        (&[0.0, 10.0, 100.0], false),
        (&[1.0, 2.0, 3.0, 10.0], true),
        (&[1.0, 6.0, 11.0, 16.0], false),
    ] {
        assert_eq!(axis(values).1, expected, "{values:?}");
    }
}
