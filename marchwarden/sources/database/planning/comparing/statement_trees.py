"""Parts of a SELECT that a planner wrote, as sqlglot parses it: its number, its conditions, its table."""

from __future__ import annotations

from sqlglot import expressions as exp

from marchwarden.sources.database.schema import Schema, Table


def number_of(tree: exp.Select) -> exp.Expr:
    """Return the number that a statement tells: its last expression."""
    last: exp.Expr = tree.expressions[-1]
    return last.unalias()


def unrounded(number: exp.Expr) -> exp.Expr:
    while isinstance(number, exp.Round | exp.Cast):
        number = number.this
    return number


def is_single(tree: exp.Select) -> bool:
    """Return whether a statement tells a single number of all its rows."""
    is_number = len(tree.expressions) == 1 and number_of(tree).find(exp.AggFunc) is not None
    return is_number and not any(tree.args.get(each) for each in ("group", "limit", "order", "distinct"))


def is_grouped(tree: exp.Select) -> bool:
    return tree.args.get("group") is not None and number_of(tree).find(exp.AggFunc) is not None


def conditions_of(tree: exp.Select) -> list[exp.Expr]:
    where = tree.args.get("where")
    if where is None:
        return []
    return list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]


def denied_rows(tree: exp.Select) -> exp.Not | None:
    """Return the only condition that a row is none of those of a statement."""
    found = [
        each
        for each in conditions_of(tree)
        if isinstance(each, exp.Not) and isinstance(each.this, exp.In) and each.this.args.get("query") is not None
    ]
    return found[0] if len(found) == 1 else None


def first_table(tree: exp.Select, schema: Schema) -> Table | None:
    source = tree.args.get("from_")
    return schema.by_name.get(source.this.name.lower()) if source else None


def with_tables(tree: exp.Select) -> exp.Select:
    """Return a statement whose columns name their tables, in lower case."""
    copy = tree.copy()
    for column in list(copy.find_all(exp.Column)):
        select = column.parent_select
        if isinstance(column.this, exp.Star) or select is None:
            continue
        table = column.table or select.args["from_"].this.name
        column.replace(exp.column(column.name.lower(), table=table.lower()))
    return copy


def joins_one_row_each(tree: exp.Select, schema: Schema) -> bool:
    """Return whether no join gives a row twice: each leads to the key of another table."""
    for join in tree.args.get("joins") or ():
        table, on = schema.by_name.get(join.this.name.lower()), join.args.get("on")
        if table is None or not isinstance(on, exp.EQ):
            return False
        own = [each.name.lower() for each in on.find_all(exp.Column) if each.table.lower() == table.name.lower()]
        if own != [each.lower() for each in table.key]:
            return False
    return True


def is_part(part: exp.Select, whole: exp.Select, schema: Schema) -> bool:
    """Return whether a number is of some of the rows of another: the same number, under more conditions."""
    table, rows = first_table(whole, schema), first_table(part, schema)
    if table is None or rows is None or not all(joins_one_row_each(each, schema) for each in (part, whole)):
        return False
    part, whole = with_tables(part), with_tables(whole)
    one, other = unrounded(number_of(part)), unrounded(number_of(whole))
    counts_all = isinstance(other, exp.Count) and isinstance(other.this, exp.Star)
    is_same = one == other and (rows is table or not counts_all)
    # Who bought something, each counted once, is some of all people.
    keys = [exp.column(each.lower(), table=table.name.lower()) for each in table.key]
    counts_keys = isinstance(one, exp.Count) and isinstance(one.this, exp.Distinct) and one.this.expressions == keys
    if not is_same and not (counts_all and counts_keys):
        return False
    return part != whole and all(each in conditions_of(part) for each in conditions_of(whole))


def further_conditions(part: exp.Select, whole: exp.Select) -> list[exp.Expr]:
    """Return the conditions of one statement that another does not have, but for those that something is known."""
    said = conditions_of(with_tables(whole))
    pairs = zip(conditions_of(part), conditions_of(with_tables(part)), strict=True)
    return [own for own, full in pairs if full not in said and not _says_known(own)]


def _says_known(condition: exp.Expr) -> bool:
    # PostgreSQL's `IS NOT NULL` is parsed as one that is negated itself.
    inner = condition.this if isinstance(condition, exp.Not) else condition
    is_null = isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null)
    return is_null and (inner is not condition or bool(inner.args.get("negate")))


def all_of_rows(part: exp.Select, whole: exp.Select) -> exp.Select:
    """Return the number of `part` for all its rows: of its conditions those that the whole has, too, and of its joins
    those that these need."""
    said = conditions_of(with_tables(whole))
    pairs = zip(conditions_of(part), conditions_of(with_tables(part)), strict=True)
    kept = [own.copy() for own, full in pairs if full in said]
    number = number_of(part).copy()
    needed = {column.table.lower() for node in (number, *kept) for column in node.find_all(exp.Column)}
    joins: list[exp.Join] = []
    for join in reversed(part.args.get("joins") or ()):
        if join.this.name.lower() in needed:
            needed |= {column.table.lower() for column in join.find_all(exp.Column)}
            joins.insert(0, join.copy())
    found = exp.select(number).from_(part.args["from_"].this.copy())
    found.set("joins", joins)
    return found.where(*kept) if kept else found


def is_same_but_values(one: exp.Select, other: exp.Select) -> bool:
    """Return whether two statements differ in the values of conditions alone."""
    masked = [
        each.copy().transform(lambda node: exp.Placeholder() if isinstance(node, exp.Literal) else node)
        for each in (one, other)
    ]
    return bool(masked[0] == masked[1]) and one != other


def is_same_but_number(one: exp.Select, other: exp.Select) -> bool:
    masked = []
    for tree in (one, other):
        number = number_of(tree)
        masked.append(tree.copy().transform(lambda node, number=number: exp.null() if node == number else node))
    return bool(masked[0] == masked[1])


def told_by(tree: exp.Select, number: exp.Expr, name: str, *, keeps_number: bool = False) -> exp.Select:
    """Return a statement that tells another number under a name. Where it does not keep its own, the other takes its
    place in limits and orders, too."""
    old, changed = number_of(tree).copy(), tree.copy()
    for node in [] if keeps_number else list(changed.find_all(type(old))):
        if node == old:
            node.replace(number.copy())
    changed.expressions[-1].replace(exp.alias_(number.copy(), name, quoted=True))
    return changed


def number_under(number: exp.Expr, condition: exp.Expr) -> exp.Expr:
    """Return a number of those rows alone that pass a condition; 0 where there are none."""

    def limit(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.AggFunc):
            return node
        inner = node.this
        if isinstance(inner, exp.Distinct):
            return type(node)(this=exp.Distinct(expressions=[_case(condition, each) for each in inner.expressions]))
        return type(node)(this=_case(condition, exp.Literal.number(1) if isinstance(inner, exp.Star) else inner))

    limited = number.copy().transform(limit)
    return limited if number.find(exp.Count) else exp.Coalesce(this=limited, expressions=[exp.Literal.number(0)])


def _case(condition: exp.Expr, value: exp.Expr) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=condition.copy(), true=value.copy())])
