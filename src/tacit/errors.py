"""Every error a user can meet: what failed, the value, the fix, and a stable code.

An error speaks of public facts only (schema, price, ledger, file names), never of rows.  Codes are never reused:
`CODES` is the catalogue behind the reference page of error codes.
"""

from __future__ import annotations

from typing import Final

CODES: Final[dict[str, str]] = {
    # S: schema
    "S01": "a schema without columns, or a column name that is no text",
    "S02": "what should be a column type is none",
    "S03": "two names for one column of the table",
    "S04": "an unknown column type",
    "S05": "a column type has no such key, or lacks one",
    "S06": "a bound is not a finite number or a date",
    "S07": "a lower bound is not below its upper bound",
    "S08": "bounds too wide, too narrow or too large for exact integers",
    "S09": "a level or a label is there twice",
    "S10": "a category without levels, or with one that is none",
    "S11": "a missing value that the column cannot hold",
    "S12": "the label for missing cells is also a level",
    "S13": "max_rows is out of range",
    "S14": "two privacy units",
    "S15": "units, column, ordered or constant is not what it should be",
    "S16": "a drafted schema still has an open place",
    "S17": "what should be a number of rows is none",
    "S18": "a column cannot be computed as it says",
    # F: TOML and other files
    "F01": "a file cannot be read",
    "F02": "a file is not TOML",
    "F03": "a file has no schema",
    "F04": "a file of another format",
    "F05": "a word that a file does not know",
    "F06": "a value or section of a file is wrong",
    "F07": "words of a study beside [data], or where none are read",
    "F08": "no such folder",
    "F09": "a file lacks what the command needs",
    "F10": "a table saved with an unknown suffix",
    "F11": "a raw text file cannot be read as it was declared",
    "F12": "a typed table cannot be written",
    "F20": "a map of a site file does not fit its column",
    # Q: queries
    "Q01": "what should be a column name is not text",
    "Q02": "a column is named twice in one query",
    "Q03": "a query names no column",
    "Q04": "a query of an unknown kind",
    "Q05": "a query has no such argument",
    "Q10": "no such column in the schema",
    "Q11": "a column without numbers",
    "Q12": "a column without bounds",
    "Q13": "a column without public levels",
    "Q21": "shares= or name= where it does not belong",
    "Q22": "a mapping of questions is empty",
    "Q23": "a share names no question, or is not above 0",
    "Q31": "by= makes more cells than are released",
    "Q32": "the number of all rows is public, and needs no release",
    "Q33": "dates cannot be added up",
    "Q60": "where= is no condition on one row that can be read",
    "Q61": "where= compares what does not compare",
    "Q62": "where= names no level of a category",
    "Q65": "what is computed is no value of one row",
    "Q64": "bins= that are none",
    "Q70": "per= is neither person nor row",
    "Q71": "per= without persons",
    "Q72": "a column that cannot be weights",
    "Q74": "probabilities that are none",
    "Q95": "a model that does not fit the question",
    "Q96": "blocks need to know about how many rows there are",
    "Q97": "a number of blocks or rows that cannot be",
    "Q110": "a correction of bias that only likelihoods have",
    "Q102": "one step from blocks, with a model or parameters for which there is none",
    "Q103": "a switch of sample and aggregate that is neither on nor off",
    "Q80": "a level is called like a cell that a histogram adds",
    "Q81": "a word of a histogram is neither true nor false",
    "Q82": 'bins="auto" without a public number of rows',
    "Q83": "a threshold that is none, or that too many empty cells would pass",
    "Q84": "what a sparse histogram, or a simulation of one, cannot say",
    "Q114": "a family without finite sufficient statistics of one column",
    "Q115": "bounds of a sufficient statistic that are none, or are not known",
    "Q116": "a method of sufficient statistics that there is not, or blocks that cannot be",
    "Q90": "a constant column that cannot be numbered",
    "Q85": "a formula that cannot be read",
    "Q86": "a column that cannot take part in a regression as it is written",
    "Q87": "a Poisson regression of persons",
    "Q88": "a model that is not in this version",
    "Q89": "a regression of too many columns",
    "Q106": "a response that a model has no law for",
    "Q117": "a response of a Poisson regression that counts nothing",
    "Q118": "bounds of counts that are too far apart",
    "Q100": "logistic bins of numbers that make none, or of a column or a question that takes none",
    "Q40": "a width that no price reaches",
    "Q41": "a plan needs a number of rows",
    # B: prices and budgets
    "B01": "a number in a price or a budget is not finite, not positive, or beyond what protects anybody",
    "B02": "the budget refuses: too little is left",
    "B03": "a price or a budget is written in no way, or in two",
    "B04": "the budget's way of adding does not admit this kind of price",
    "B05": "an unknown word in a budget (neighbors, accounting)",
    "B06": "a share of a price is not above 0 and at most 1",
    "B07": "a stored price or budget is malformed",
    "B08": "no noise can be calibrated: the price buys another law, or there is nothing to protect",
    "B09": "dp-accounting is not installed",
    "B10": "a table in memory has no budget",
    "B11": "a new ledger takes a budget",
    "B12": "an analyst's limit refuses: too little of it is left",
    "B13": "a total or a limit of another kind, accounting or relation, or a total that is no raise",
    "B14": "a limit below what the analyst has spent",
    "B15": "a total of prices that do not say what they bought",
    # L: ledgers
    "L01": "a ledger of another budget or relation",
    "L02": "a ledger of another unit of privacy",
    "L03": "a file that is no ledger",
    "L04": "a ledger on a network file system",
    "L05": "a table of another public size than recorded",
    "L06": "a ledger that cannot be made or reached",
    "L07": "a ledger that another process holds",
    "L08": "no room to write the ledger",
    "L09": "another question bears this name",
    "L10": "a ledger that was changed or damaged",
    "L11": "a ledger in memory followed into another process",
    "L12": "psycopg is not installed",
    "L13": "no charge has that number",
    "L14": "an older copy of a ledger, or not the ledger of a release",
    "L15": "a ledger of a later version",
    "L16": "a backup of a ledger that cannot be made",
    "L17": "a name or a note that is no text",
    "L20": "a table has no name",
    "L21": "a raise or a limit without a note",
    "L22": "what should be an analyst's name is none",
    "L23": "a release that is not the answer that its ledger stored",
    "L24": "a note or the name of an answer that is no text",
    # D: data sources, before any row is read
    "D01": "data of a kind that is no table",
    "D02": "no such file",
    "D03": "a file that cannot be read",
    "D04": "columns of a table that cannot be told apart or read",
    "D08": "an engine that is busy",
    "D10": "a column of the schema that is not in the table",
    "D11": "a column of a type that cannot hold what is declared",
    "D20": "a table of fewer than two rows, whose number is public",
    "D21": "a table of more rows than the sums are proven for",
    "D30": "a column that a site file names is not in the table",
    "D31": "a map of cells that the table's column does not take",
    # P: studies of many parties
    "P01": "a study that is closed",
    "P02": "a price above what the study asks for",
    "P03": "a name that is none of the study's parties",
    "P04": "a study that is not this curator's",
    # R: releases
    "R01": "a document is no release",
    "R02": "a release of a later version, or of an unknown kind",
    "R03": "a release file cannot be read",
    "R04": "a file of several releases where one was expected",
    "R05": "a release document is damaged",
    "R06": "no release has that name",
    "R07": "a file cannot be written",
    # I: inference
    "I01": "a level of confidence below 0.5, or not below 1",
    "I02": "an estimate has no such term",
    "I03": "a contrast or a constraint is malformed",
    "I04": "a covariance was not released",
    "I05": "too many or too few terms for what is asked",
    "I06": "weights of a standardisation do not add up to 1, or are no numbers of 0 or more",
    "I07": "two estimates do not match",
    "I08": "an unknown way of adjusting for several tests",
    "I09": "an unknown target",
    "I10": "a simulation or a coverage study is asked for something impossible",
    "I11": "odds of what is no share",
    "I12": "independence of what is no Count by two factors",
    "I13": "a table or paragraph of no estimates",
    "I17": "a range that says nothing",
    "I14": "a level that quantiles were not selected for",
    "I15": "an unknown way of comparing two terms",
    "I16": "a trend by a factor that there is not, or whose levels have no order",
    "I18": "a post-stratification of no means by cells, or without a positive total for each cell",
    "I19": "the design effect of weights that are none, or of rows whose number is private",
    "I20": "matplotlib is not installed",
    "I40": "axes or cells of a histogram that are none",
    "I41": "a column that is not in a histogram",
    "I42": "a formula cannot be read, or not be evaluated on the cells",
    "I43": "a response or regressor that a model cannot take",
    "I44": "an unknown model or method of a fit, or a parameter of it out of range",
    "I45": "an effect, a prediction or a test of what was not fitted",
    "I46": "a loss of one's own that is none",
    "I47": "a fit of more cells than can be handled",
    "I48": "more cells than a table of estimates has",
    "I50": "columns of a histogram that a statistic cannot be made of",
    "I51": "probabilities, words or numbers that a statistic from a histogram does not take",
    "I52": "an event or times that survival cannot be told from",
    "I54": "a test from counts that are nothing but noise",
    "I53": "an unknown step for counts of a histogram, or a parameter of it out of range",
    "I60": "a density of a column of levels",
    "I61": "a number of synthetic rows that is none",
    "I62": "a seed of random numbers that is none",
    "I63": "a histogram that is all noise",
    "I64": "a picture of more columns than it can show",
    "I70": "a simulation of a regression, which has a step of its own",
    "I75": "the model of a release that is not at hand, or not its own",
    "I76": "standard errors of another kind that a release of a model does not have",
    "I77": "a simulation of a mechanism in two steps",
    "I78": "a function of parameters that is none",
    "I79": "a picture or a fitted law of what has none",
    "I80": "average marginal effects that a release does not tell",
    # N: noise laws
    "N01": "a scale of noise outside 0.001 to 1e12",
    "N02": "an unknown law of noise",
    "N03": "a number of draws that is no count",
    "N04": "a selection without integer utilities, points or a positive rate",
    # C: command line
    "C01": "a command or an option is misspelt",
    "C02": "no price is given",
    "C03": "an option has an unknown value",
    "C04": "no such ledger",
    "C05": "the output takes no more",
    "C06": "options that say nothing together",
    # C10 on: combining parties
    "C10": "what should be releases to combine is none, or simulated",
    "C11": "answers that do not add up across parties",
    "C12": "releases of different questions, schemas or units",
    "C13": "a release is given twice",
    "C14": "too few parties",
    "C15": "no such party",
    "C16": "how parties differ is asked of what does not say it",
    "C17": "an unknown word for effects or their method",
    "C18": "a combination is no release",
    "C19": "a tree of levels that is none",
    "C20": "no file came back",
    "C21": "fewer answers than a study pools",
    "C22": "a question that a study does not have, or that does not combine",
    "C27": "cryptography is not installed",
    "C28": "a file for a new key that is there already, or cannot be made",
    "C29": "a private key that cannot be read, or that others can read",
    "C30": "a party's key is not the one that its study lists",
    # M: machine
    "M01": "the machine failed while rows were read; nothing about the rows is said",
    "M10": "a box of a parameter is none, or leaves what the parameter may be",
    "M11": "no family has that name",
    "M12": "a family has no such word, or a setting of it is out of range",
    "M13": "a default that lies outside the box, or parameters that are none of the model's",
    "M14": "a log-density that fails, or does not give one float of a row",
    "M15": "a log-density that is not a number where it must be one",
    "M16": "a log-density with callbacks or effects",
    "M17": "blocks of the wrong shape, or an unknown correction of their bias",
    "M18": "expectations or draws under a model that cannot be had",
    "M21": "a statistic of a block that is no function, or a name that none has",
    "M22": "a statistic of a block that fails on rows made up, or gives other numbers than ranges",
    "M23": "a statistic of a block that cannot be carried to another process",
    "M24": "a machine on which no process can be started for a block",
}

NOTHING_SPENT: Final = "Nothing was read or spent."


class TacitError(Exception):
    """Base of all errors of this library.

    Parameters are keyword-only beyond the message: `code` is a key of `CODES`, `hint` says what to type instead,
    `state` says what the failure cost so far (by default: nothing).

    >>> raise SchemaError("column 'age': lower bound 9 is not below upper bound 1.", code="S07", hint="Real(1, 9)")
    Traceback (most recent call last):
    tacit.errors.SchemaError: [S07] column 'age': lower bound 9 is not below upper bound 1.  Hint: Real(1, 9).  \
Nothing was read or spent.
    """

    def __init__(self, message: str, *, code: str, hint: str | None = None, state: str | None = NOTHING_SPENT) -> None:
        self.message = message
        self.code = code
        self.hint = hint
        self.state = state
        super().__init__(message)

    def __str__(self) -> str:
        parts = [f"[{self.code}] {self.message}"]
        if self.hint:
            parts.append(f"Hint: {self.hint.rstrip('.')}{'' if self.hint.endswith('?') else '.'}")
        if self.state:
            parts.append(self.state)
        return "  ".join(parts)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.message, self.code, self.hint, self.state))


def _rebuild(cls: type[TacitError], message: str, code: str, hint: str | None, state: str | None) -> TacitError:
    return cls(message, code=code, hint=hint, state=state)


class SchemaError(TacitError):
    """A schema, a column type or a level is wrong."""


class QueryError(TacitError):
    """A question cannot be asked of this schema, or under this neighbouring relation."""


class BudgetError(TacitError):
    """A price or a budget is malformed, or the budget does not admit the price."""


class LedgerError(TacitError):
    """A ledger is damaged, of other people, of another version, or out of reach."""


class StudyError(TacitError):
    """A study is closed, of other parties, or asked for more than it allows."""


class SourceError(TacitError):
    """A table cannot be opened, or its columns and types are not those of the schema.  No row was read."""


class ReleaseError(TacitError):
    """A release document is malformed, unknown, or asked for what it cannot give."""


class InferenceError(TacitError):
    """An estimate was asked for something it cannot answer (a level below 0.5, an unknown term)."""


class ModelError(TacitError):
    """A family, the box of its parameters, or a log-density of one's own is wrong."""


class FileError(TacitError):
    """A TOML file, a site file or an output path is wrong."""


class CommandError(TacitError):
    """The words of a command are wrong."""


class MachineError(TacitError):
    """The machine failed behind the wall.  One constant message: details are in the curator's own log."""

    def __init__(self) -> None:
        super().__init__(
            "the data could not be read or the machine failed; no detail leaves the curator's own log.",
            code="M01",
            hint="ask the same question again: a recorded charge is not charged twice",
            state="If the charge was recorded, it stands.",
        )

    def __reduce__(self) -> tuple[object, ...]:
        return (MachineError, ())


def nearest(word: str, known: list[str] | tuple[str, ...]) -> str | None:
    """The known word closest to `word`, or None where none is close.

    >>> nearest("incme", ["age", "income"])
    'income'
    """
    import difflib

    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return found[0] if found else None
