"""Words of buying and selling: verbs, nouns for money, and names of tables whose rows are sales.

Guesses, from questions as office workers ask them over Chinook and the first half of those over Northwind
(evals/database/joined).
"""

from __future__ import annotations

from collections.abc import Mapping

from marchwarden.sources.database.planning.question_words import CUES, Phrase

# What a best-selling thing is compared by.
_SOLD = ("sold",)
_PHRASES: dict[Phrase, str] = {
    Phrase("deal", "sell"): "sell, sells, sold, selling",
    Phrase("deal", "buy"): "buy, buys, bought, buying, purchase, purchases, purchased, order, ordered",
    Phrase("deal", "gain"): "earn, earns, earned",
    Phrase("deal", "earn"): "bring in, brings in, brought in, generate, generates, generated, "
    "take in, took in, come in, comes in, came in, gross, grosses, grossed, earn us, earns us, earned us, "
    "bring us, brings us, brought us, make us, makes us, made us, give us, gives us, gave us",
    Phrase("deal", "spend"): "spend, spends, spent",
    Phrase("deal", "pay"): "pay, pays, paid",
    Phrase("money"): "revenue, revenues, turnover, sales, money, sales revenue, income, takings, proceeds, "
    "gross revenue, gross sales, gross income, business, earnings",
    Phrase("money", "each"): "order value, order total, sale value, invoice value, basket value, purchase value, "
    "value of an order, value of an invoice, order amount, order size",
    Phrase("money", "profit"): "profit, profits, gross profit, profitable",
    Phrase("money", "loss"): "loss, losses",
    Phrase("money", "worth"): "value of, worth, total value of",
    Phrase("serve", "close"): "handle, handles, handled, process, processes, processed, manage, manages, managed, "
    "look after, looks after, looked after, take care of, takes care of, took care of, serve, serves, served",
    Phrase("serve"): "place, places, placed, get, gets, got, receive, receives, received, make, makes, made, have, "
    "has, had, see, sees, saw, seen, file, files, filed, submit, submits, submitted",
    Phrase("top", "DESC", _SOLD): "best-selling, best selling, bestselling, top-selling, top selling, most sold, "
    "most purchased, most bought",
    Phrase("top", "ASC", _SOLD): "worst-selling, worst selling, least sold",
    Phrase("unit"): "units, pieces, copies, units of, pieces of, copies of",
    Phrase("often"): "often, frequently, times",
    Phrase("often", "1"): "once",
    Phrase("often", "2"): "twice",
    Phrase("not"): "nothing",
    Phrase("span", "month"): "month, months, monthly, calendar month",
    Phrase("span", "quarter"): "quarter, quarters, quarterly",
    Phrase("span", "year"): "year, years, yearly, annual, annually",
    Phrase("difference"): "difference between, minus",
}  # fmt: skip
DEAL_CUES: Mapping[tuple[str, ...], Phrase] = {
    tuple(words.split()): phrase for phrase, listed in _PHRASES.items() for words in listed.split(", ")
}
# `ordered in 2023` says what was done, and no order.
ALL_CUES: Mapping[tuple[str, ...], Phrase] = {
    words: phrase for words, phrase in {**CUES, **DEAL_CUES}.items() if words != ("ordered", "in")
}

# Words for money that are a column where one has them in its name: a yearly income is no turnover.
NAMED_FIRST = frozenset({"income", "takings", "proceeds", "earnings"})
# Verbs of those who give money.
BUYING = ("buy", "spend", "pay")
# Words of the names of tables whose rows are sales, or the lines of them.
DEALS = frozenset(
    {
        "order", "orders", "sale", "sales", "invoice", "invoices", "purchase", "purchases", "transaction",
        "transactions", "receipt", "receipts", "booking", "bookings", "rental", "rentals", "stay", "stays",
        "reservation", "reservations"
    }
)  # fmt: skip
# Last words, as stems, of tables of people who buy: they sell nothing. Who is none of them buys nothing.
BUYERS = frozenset(
    {"custom", "client", "buyer", "patron", "guest", "shopper", "subscrib", "consum", "account", "member", "user"}
)
# Those of people who pay for what they get, where nothing is called a sale.
PAYERS = BUYERS | {
    "rider",
    "visitor",
    "patient",
    "passeng",
    "student",
    "tenant",
    "renter",
    "pupil",
    "attende",
    "resid",
}
PAYMENTS = frozenset({"payment", "payments", "paid", "pay"})
# Last words of tables whose rows are sums of money themselves: a share of expenses may be one of rows or of money.
SUMS_OF_MONEY = frozenset(
    {
        "sale", "sales", "payment", "payments", "donation", "donations", "fine", "fines", "tax", "taxes", "salary",
        "salaries", "income", "revenue", "revenues", "cost", "costs", "expense", "expenses", "spending", "budget"
    }
)  # fmt: skip
# Words of columns that hold the money of a row, and of columns that hold another amount beside it.
TOTALS = frozenset({"total", "amount", "revenue", "sales", "subtotal", "turnover"})
NOT_TOTALS = frozenset(
    {
        "tax", "vat", "discount", "cost", "costs", "count", "tip", "shipping", "freight", "quantity", "qty", "units",
        "number", "balance", "refund", "deposit", "days", "items", "budget", "fee", "weight", "minutes", "hours"
    }
)  # fmt: skip
# Words of the columns of a row whose difference is its profit, and of those with a cost of another kind.
INCOMES = frozenset({"income", "revenue", "revenues", "sales", "turnover", "takings", "proceeds"})
EXPENSES = frozenset({"cost", "costs", "expense", "expenses", "expenditure", "expenditures", "spending", "outlay"})
NOT_EXPENSES = frozenset({"shipping", "freight", "delivery", "center", "centre", "code", "budget", "planned"})
# Words of columns with what is charged for a row that is no sale: a visit.
CHARGES = frozenset({"fee", "fees", "charge", "charges"})
# Verbs that name a table by another verb, which WordNet has beside its noun.
CONVERSES = {"borrowed": "lent", "borrow": "lent", "borrows": "lent", "rented": "rental", "rent": "rental"}
QUANTITIES = frozenset({"quantity", "qty"})
# Last words, as stems, of columns that count what one price is paid for each.
PLACES_SOLD = frozenset({"seat", "ticket", "admiss"})
# Last words, as stems, of tables whose rows are single copies of a thing, where they have no quantity.
COPIES = frozenset({"inventori", "copi", "stock"})
# Last words, as stems, of columns that count units of time, with the adjective of a price for each.
TIMES_SOLD = {"hour": "hourly", "day": "daily", "night": "nightly", "week": "weekly", "month": "monthly"}
RATES = frozenset({"rate", "price", "fee", "charge", "tariff"})
# Words, as stems, of the names of tables whose rows are sums of money, but none that was earned.
NO_SALES = frozenset(
    {
        "purchas", "expens", "cost", "claim", "refund", "fine", "donat", "quot", "offer", "cart", "wish", "budget",
        "salari", "wage", "grant", "loan", "tax", "return", "complaint", "repair", "forecast", "plan", "target",
        "wishlist", "basket", "favorit", "favourit", "sampl", "gift", "recommend", "review", "rate", "view", "payout"
    }
)  # fmt: skip
# Words, as stems, of the names of tables whose rows take place on a day.
EVENTS = frozenset(
    {
        "perform", "screen", "concert", "event", "match", "flight", "trip", "tour", "session", "lesson", "class",
        "departur", "voyag", "workshop", "festiv"
    }
)  # fmt: skip
# Words beside them for what is kept, and not what was sold.
NOT_QUANTITIES = frozenset({"stock", "per", "reorder", "minimum", "hand", "available", "unit"})
# Values of a column that say that a sale is none.
UNDONE = frozenset(
    {
        "cancelled", "canceled", "returned", "refunded", "void", "voided", "failed", "rejected", "declined",
        "reversed", "disputed"
    }
)  # fmt: skip
# Words of columns that say when a row was written, and not when what it tells happened.
BOOKKEEPING = frozenset({"created", "updated", "modified", "inserted", "crtd", "upd", "deleted", "ts"})
