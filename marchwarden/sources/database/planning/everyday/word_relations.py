"""Relations of words to the names of tables and columns: by WordNet, and by the measures that verbs mean."""

from __future__ import annotations

from functools import lru_cache

from marchwarden.judge.thesaurus import load_thesaurus
from marchwarden.sources.database.planning.everyday.word_stems import stem_of
from marchwarden.sources.database.schema import KEY_ENDINGS, Column, Table, words_of_name

# Shortest word that is looked up: shorter ones are rather codes. A guess.
_MIN_CHARS = 3
# Words of column names that say only how a value is kept.
_KEPT_AS = frozenset({"id", "name", "date", "no", "number", "code", "type", "value", "time", "year", "day"})
# Nouns of columns that a verb of amounts measures, as stems; the first one that a table has counts.
_OUTLAY = ("amount", "cost", "total", "price", "expense", "fee", "sum", "spent", "paid")
_INCOME = ("salary", "wage", "income", "pay", "earnings", "revenue")
MEASURED: dict[str, tuple[str, ...]] = {
    "spend": _OUTLAY,
    "cost": ("price", "cost", "amount", "total", "fee"),
    "pay": (*_OUTLAY, *_INCOME),
    "earn": _INCOME,
    "donat": ("amount", "donation", "total", "sum"),
    "give": ("amount", "donation", "total", "sum"),
    "rais": ("amount", "donation", "total", "sum"),
    "weigh": ("weight",),
    "make": _INCOME,
}
# What `how much` asks for where no word says of what.
AMOUNTS = ("price", "cost", "amount", "total", "fee", "sum")
# Words of columns whose numbers are of one row alone: nobody sums up prices or ages.
_OF_ONE = frozenset({"price", "rate", "unit", "salary", "wage", "age", "each", "per", "percent", "weight", "height"})
_PER_PIECE = frozenset({"unit", "piece", "each", "per"})
# Words of columns that count the things of a row.
_COUNTED = frozenset({"stock", "quantity", "qty", "units", "pieces", "copies", "inventory"})
# Senses of a word that count, the most frequent ones: `situation` is a `location` in its fourth. By nineteen pairs of
# words for columns, ten of which share one of their first three.
_SENSES = 3
# Words for people at large. They stand for the rows of a table of people.
PEOPLE = frozenset({"peopl", "person"})
# Groups of people, which WordNet files beside their members.
_STAFF = frozenset({"staff", "personnel", "crew", "workforc"})
_GOODS = frozenset({"item", "good", "articl", "product", "ware", "merchandis"})
# Nouns for the rows of tables with such names.
_GROUPS = (
    (_STAFF | {"employe", "worker", "colleagu"}, _STAFF),
    (_GOODS, _GOODS | {"inventori", "stock"}),
    (frozenset({"song"}), frozenset({"track"})),
)


@lru_cache(maxsize=4_096)
def is_related(word: str, other: str) -> bool:
    """Return whether two stems are forms or synonyms of each other: `sold` and `sale`, `wrote` and `author`."""
    if word == other:
        return True
    if _is_same(word, other):
        return True
    known = load_thesaurus()
    # Who does it: `wrote`, of a writer, is `author`.
    base = known.forms.get(word, word)
    if any(_is_same(agent, other) for agent in known.kin.get(base, ()) if agent.endswith(("er", "or"))):
        return True
    # What is done: a sale is what one sells, which WordNet has as the wider of the two.
    return base != word and known.relate(base, other) == "wider"


def _is_same(word: str, other: str) -> bool:
    known = load_thesaurus()
    word, other = known.forms.get(word, word), known.forms.get(other, other)
    if word == other or other in known.kin.get(word, ()) or word in known.kin.get(other, ()):
        return True
    ours, theirs = known.senses.get(word, ())[:_SENSES], known.senses.get(other, ())[:_SENSES]
    return not set(ours).isdisjoint(theirs)


def is_plural(word: str, other: str) -> bool:
    """Return whether one of two words is the plural of the other, or both are the same."""
    one, many = sorted((word, other), key=len)
    regular = many in (one, f"{one}s", f"{one}es", f"{one[:-1]}ies", f"{one[:-1]}ves", f"{one[:-2]}ves")
    forms = load_thesaurus().forms
    return regular or forms.get(many) == one or forms.get(one) == many


def related_tables(word: str, tables: tuple[Table, ...]) -> list[Table]:
    """Return the tables whose rows a noun names: by a synonym, or a wider noun, such as `people` for customers."""
    if word in PEOPLE:
        return [table for table in tables if is_of_people(table)]
    found = []
    for table in tables:
        own = stem_of((words_of_name(table.name) or [""])[-1])
        is_wider = len(own) >= _MIN_CHARS and load_thesaurus().relate(word, own) == "wider"
        is_of_group = any(word in nouns and own in names for nouns, names in _GROUPS)
        if is_wider or is_related(word, own) or is_of_group:
            found.append(table)
    # A song is a row of `track`, and not of `playlist_track`.
    plain = [table for table in found if len(words_of_name(table.name)) == 1]
    return plain if len(plain) == 1 else found


def related_columns(word: str, tables: tuple[Table, ...]) -> list[Column]:
    """Return the columns that have a form or a synonym of a word in their names."""
    found = []
    for table in tables:
        own = {stem_of(each) for each in words_of_name(table.name)}
        for column in table.columns:
            names = [each for each in words_of_name(column.name) if each not in _KEPT_AS and len(each) >= _MIN_CHARS]
            if any(is_related(word, stem) for stem in map(stem_of, names) if stem not in own):
                found.append(column)
    return found


def measured_columns(word: str, tables: tuple[Table, ...]) -> list[Column]:
    """Return the columns of numbers that a verb of amounts measures: `spent` an amount, `earns` a salary."""
    base = load_thesaurus().forms.get(word, word)
    return amount_columns(MEASURED.get(base, ()), tables)


def amount_columns(nouns: tuple[str, ...], tables: tuple[Table, ...]) -> list[Column]:
    """Return the columns of numbers with the first of these nouns in a name; of each table those of its first."""
    found: list[Column] = []
    for table in tables:
        numbers = [column for column in table.columns if column.is_number and table.key != (column.name,)]
        for noun in nouns:
            own = [column for column in numbers if noun in words_of_name(column.name)]
            if own:
                found += own
                break
    return found


def is_of_one_row(column: Column) -> bool:
    return bool(_OF_ONE.intersection(words_of_name(column.name)))


def is_per_piece(column: Column) -> bool:
    """Return whether a column says what one piece costs: `unit_cost`."""
    words = words_of_name(column.name)
    return not _PER_PIECE.isdisjoint(words) and not {"price", "cost"}.isdisjoint(words)


def is_count_of_things(column: Column) -> bool:
    return column.is_number and not _COUNTED.isdisjoint(words_of_name(column.name))


def quantity_of(table: Table) -> Column | None:
    """Return the only column that counts the things of a row: the pieces in stock."""
    found = [
        each
        for each in table.columns
        if is_count_of_things(each) and (_PER_PIECE | KEY_ENDINGS).isdisjoint(words_of_name(each.name))
    ]
    return found[0] if len(found) == 1 else None


def is_of_people(table: Table) -> bool:
    """Return whether the rows of a table are people, by its name or by columns of their first and last names."""
    if any({"first", "name"} <= set(words_of_name(column.name)) for column in table.columns):
        return True
    words = words_of_name(table.name)
    return bool(words) and (stem_of(words[-1]) in _STAFF or _is_person(stem_of(words[-1])))


def is_told_by(deed: str, table: Table) -> bool:
    """Return whether a table or one of its columns has a name for what is done: `sold` in a table of sales."""
    words = [*words_of_name(table.name), *(word for column in table.columns for word in words_of_name(column.name))]
    done = {deed, *_DEALS} if deed in _DEALS else {deed}
    return any(is_related(each, stem_of(word)) for word in words for each in done)


# Stems of words for the two sides of a purchase. Orders and sales are lists of what was bought, and sold.
_DEALS = frozenset({"sold", "bought", "sale", "order", "purchas", "transact"})


@lru_cache(maxsize=1_024)
def _is_person(stem: str) -> bool:
    known = load_thesaurus()
    person = known.senses["person"][0]
    waiting, seen = list(known.senses.get(stem, ())[:1]), set()
    while waiting:
        synset = waiting.pop()
        if synset == person:
            return True
        if synset not in seen:
            seen.add(synset)
            waiting += known.up.get(synset, ())
    return False
