"""Errors of the library: each says what failed, the value, a fix, and has a stable code.

A message contains public facts only (schema, price, ledger, file names), never anything about rows.  Codes are never
reused; the reference page of error codes is generated from `CODES`.
"""

from __future__ import annotations

from typing import Final

CODES: Final[dict[str, str]] = {
    # S: schema
    "S01": "a schema without columns, or a column name that is not text",
    "S02": "something that is not a column type or a schema where one is needed",
    "S03": "two names for one column of the table",
    "S04": "an unknown column type",
    "S05": "a key that a column type does not have, or a required key that is absent",
    "S06": "a bound is not a finite number or a date",
    "S07": "a lower bound is not below its upper bound",
    "S08": "bounds too wide, too narrow or too large for exact integers",
    "S09": "a level or a label occurs twice",
    "S10": "a category without levels, or with a malformed one",
    "S11": "a missing value that the column cannot hold",
    "S12": "the label for missing cells is also the label of a level",
    "S13": "max_rows is out of range",
    "S14": "two privacy units",
    "S15": "units, column, ordered or constant is of the wrong type",
    "S16": "a drafted schema still has a placeholder",
    "S17": "a number of rows is not a whole number from 0 on, or a seed is none",
    "S18": "a computed column cannot be computed from the others",
    # F: TOML and other files
    "F01": "a file cannot be read",
    "F02": "a file is not TOML",
    "F03": "a file has no schema",
    "F04": "a file of another format",
    "F05": "an unknown key in a file",
    "F06": "a value or section of a file is wrong",
    "F07": "[data] in a study's file, or keys of a study in another file",
    "F08": "no such folder",
    "F09": "a file lacks something that the command needs",
    "F10": "a table saved with an unknown suffix",
    "F11": "a raw text file cannot be read as declared",
    "F12": "a typed table cannot be written",
    "F13": "a page cannot be turned into that format on this machine",
    "F20": "a map of a site file does not fit its column",
    # Q: queries
    "Q01": "a column name is not text",
    "Q02": "a column is named twice in one query",
    "Q03": "a query names no column",
    "Q04": "a query of an unknown kind",
    "Q05": "a query has no such argument",
    "Q07": "fresh= is neither True nor False",
    "Q06": "a table, a column, an array or an endless number where a query takes plain values",
    "Q10": "no such column in the schema",
    "Q11": "a column that is not numeric",
    "Q12": "a column without bounds",
    "Q13": "a column without public levels",
    "Q21": "shares= or name= where it has no meaning",
    "Q22": "a mapping of queries is empty",
    "Q23": "a share names no query, or is not above 0",
    "Q31": "by= makes more cells than can be released",
    "Q32": "the number of rows is public, so it needs no release",
    "Q33": "dates cannot be added up",
    "Q60": "where= is not a condition on one row that can be read",
    "Q61": "an expression or where= compares or combines columns of types that do not fit",
    "Q62": "where= names something that is not a level of the category",
    "Q65": "computed= is not a value of one row that can be read",
    "Q64": "bins= is malformed, or absent where it is needed",
    "Q70": 'per= is neither "person" nor "row"',
    "Q71": "per= in a schema without a PrivacyUnit",
    "Q72": "a column that cannot serve as weights",
    "Q74": "probabilities that are malformed",
    "Q95": "a model that does not fit the query",
    "Q96": "blocks need an approximate number of rows",
    "Q97": "an impossible number of blocks or rows",
    "Q110": "a bias correction that only likelihoods have",
    "Q102": "one step from blocks, with a model or parameters that do not allow it",
    "Q103": "a switch of sample and aggregate that is neither True nor False",
    "Q140": "a variance of blocks by resampling that is malformed or not possible",
    "Q80": "a level has the label of a cell that a histogram adds",
    "Q81": "a switch of a query that is neither True nor False",
    "Q82": 'bins="auto" without a public number of rows',
    "Q83": "a threshold that is malformed, or that too many empty cells would pass",
    "Q84": "something that a sparse histogram, or a simulation of one, cannot provide",
    "Q114": "a family without finite sufficient statistics of one column",
    "Q115": "bounds of a sufficient statistic that are malformed, or cannot be determined",
    "Q116": "an unknown method for sufficient statistics, or an impossible number of blocks",
    "Q90": "a constant column whose codes engines cannot number",
    "Q85": "a formula that cannot be read",
    "Q86": "a column that cannot enter a regression in this way",
    "Q88": "a model that this version does not have",
    "Q89": "a regression of too many columns",
    "Q106": "a response that does not fit the model",
    "Q117": "a response of a Poisson regression that is not a count",
    "Q118": "bounds of counts that are too far apart",
    "Q124": "a response that a gamma or Huber regression cannot take",
    "Q120": "a statistic that has no bootstrap",
    "Q121": "an impossible number of bootstrap replicates",
    "Q145": "a basis of orthonormal functions that there is not",
    "Q146": "a number of terms, or of columns, that a series cannot have",
    "Q230": "a bandwidth that is none, or of no column of the question",
    "Q231": "more columns than a kernel density can have",
    "Q232": "a bandwidth, or a column, that has no cells for a kernel density",
    "Q260": "a size of a data set that is none",
    "Q261": "a number of cells of a data set that is none",
    "Q262": "a data set of more points than there are rows",
    "Q263": "a column of too few values for a data set",
    "Q264": "candidates of an exponential mechanism that are malformed, or too many",
    "Q265": "a utility that there is not, or that does not fit its columns",
    "Q266": "a declared sensitivity that is none, or below the exact one",
    "Q267": "candidates whose utilities no row tells apart",
    "Q122": "a bootstrap whose cost is not proven: its price, persons in several cells, or no rows",
    "Q160": "a design of randomised answers that is malformed, or that protects nobody",
    "Q161": "an answer that a design of randomised answers does not have",
    "Q162": "a response of another design, a damaged one, or one that was counted already",
    "Q163": "groups, weights, a formula, a page or a plan that do not fit randomised answers",
    "Q130": "nothing to compare: no way has an answer, or no such way, or a law that answers nothing",
    "Q131": "an impossible number of Laplace draws, or a price that buys none",
    "Q100": "logistic bins that are malformed, or for a column or query that takes none",
    "Q40": "a width that no price achieves",
    "Q41": "a plan needs a number of rows",
    "Q42": "what a plan expects of a column cannot be true of it",
    # B: prices and budgets
    "B01": "a number in a price or a budget is not finite, not positive, or too large or small to be meaningful",
    "B02": "the budget refuses a price: too little is left",
    "B03": "a price or a budget is stated in no way, or in two",
    "B04": "the budget cannot add this kind of price",
    "B05": "an unknown word in a budget (neighbors, accounting)",
    "B06": "a share of a price is not above 0 and at most 1",
    "B07": "a stored price or budget is malformed",
    "B08": "no noise can be calibrated: the price buys another kind, or the sensitivity is 0",
    "B09": "dp-accounting is not installed",
    "B10": "a table in memory has no budget",
    "B11": "a new ledger needs a budget",
    "B12": "an analyst's limit refuses a price: too little of it is left",
    "B13": "a total or a limit of another kind, accounting or relation, or a new total that is not a raise",
    "B14": "a limit below what the analyst has spent",
    "B15": "a total of prices whose releases are needed to know what they bought",
    "B16": "something that is not a Budget where one is needed",
    "B17": "a limit above the total budget",
    "B18": "an argument that a budget, a price or a curator does not have",
    "B19": "nothing to explain: neither a price nor something that has one",
    "B20": "a number or a case that an explanation does not have",
    # L: ledgers
    "L01": "a ledger of another budget or relation",
    "L02": "a ledger of another unit of privacy",
    "L03": "a file that is not a ledger",
    "L04": "a ledger on a network file system",
    "L05": "a table of another public size than recorded",
    "L06": "a ledger that cannot be created or reached",
    "L07": "a ledger that another process holds",
    "L08": "no room to write the ledger",
    "L09": "another question has this name",
    "L10": "a ledger that was changed or damaged",
    "L11": "a ledger in memory is used in another process than its own",
    "L12": "psycopg is not installed",
    "L13": "no charge has that number",
    "L14": "an older copy of a ledger, or not the ledger of a release",
    "L15": "a ledger of a later version",
    "L16": "a backup of a ledger cannot be made",
    "L17": "a name or a note that is not text",
    "L20": "a table has no name",
    "L21": "a raise or a limit without a note",
    "L22": "an analyst's name is malformed",
    "L23": "a release that is not the answer its ledger stored",
    "L24": "a note or the name of an answer that is not text",
    # D: data sources, before any row is read
    "D01": "data of a type that is not a table",
    "D02": "no such file",
    "D03": "a file that cannot be read",
    "D04": "columns of a table that cannot be distinguished or read",
    "D08": "an engine that is busy",
    "D10": "a column of the schema that is not in the table",
    "D11": "a column of a type that cannot hold what the schema declares",
    "D20": "a table of fewer than two rows, whose number is public",
    "D21": "a table with more rows than exact sums allow",
    "D30": "a column that a site file names is not in the table",
    "D31": "a map of cells that does not fit the type of the table's column",
    # P: studies of many parties
    "P01": "a study that is closed",
    "P02": "a price above what the study asks for",
    "P03": "a name that is not one of the study's parties",
    "P04": "a study that is not this curator's",
    # R: releases
    "R01": "a document is not a release",
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
    "I05": "too many or too few terms for the method",
    "I06": "weights of a standardisation do not add up to 1, or are not numbers from 0 on",
    "I07": "two estimates do not match",
    "I08": "an unknown way of adjusting for several tests or intervals",
    "I09": "an unknown target",
    "I10": "an impossible argument of a simulation or a coverage study",
    "I11": "odds of something that is not a proportion",
    "I12": "a test of independence on something that is not a Count by two factors",
    "I13": "a table or paragraph without estimates",
    "I17": "a range that is dominated by noise",
    "I14": "a level that quantiles were not selected for",
    "I15": "an unknown way of comparing two terms",
    "I16": "a trend by a factor that does not exist, or whose levels are not ordered",
    "I18": "a post-stratification of something that is not means by cells, or without a positive total for each cell",
    "I19": "the design effect of something that is not weights, or of rows whose number is private",
    "I20": "matplotlib is not installed",
    "I40": "axes or cells of a histogram that are malformed",
    "I41": "a column that is not in a histogram",
    "I42": "a formula cannot be read, or not be evaluated on the cells",
    "I43": "a response or regressor that a model cannot take",
    "I44": "an unknown model or method of a fit, or a parameter of it out of range",
    "I45": "an effect, a prediction or a test of what was not fitted",
    "I46": "a user-defined loss that is malformed",
    "I47": "a fit on more cells than can be handled",
    "I48": "more cells than a table of estimates can have",
    "I50": "columns of a histogram from which a statistic cannot be computed",
    "I51": "probabilities, words or numbers that a statistic from a histogram does not accept",
    "I52": "an event or times from which survival cannot be computed",
    "I54": "a test from counts that are dominated by noise",
    "I53": "an unknown step for counts of a histogram, or a parameter of it out of range",
    "I60": "a density of a column that has levels, not numbers",
    "I61": "a number of synthetic rows that is malformed",
    "I62": "a seed of random numbers that is malformed",
    "I63": "a histogram that is dominated by noise",
    "I64": "a plot of more columns than it can show",
    "I70": "a simulation of a regression, which needs a function of its own",
    "I75": "the model of a release that is not available, or is another model",
    "I76": "a kind of standard errors that a release of a model does not have",
    "I77": "a simulation of a mechanism in two steps",
    "I78": "a function of parameters that is malformed",
    "I79": "a plot or a fitted distribution that a release does not allow",
    "I120": "a kind of bootstrap standard errors that there is not, or its alpha",
    "I121": "a deconvolution of replicates that tell nothing",
    "I80": "average marginal effects that a release cannot provide",
    "I81": "a function of estimates that cannot be bootstrapped",
    "I82": "an unknown method of the bootstrap",
    "I83": "a number of draws that is none, or too small for the level of an interval",
    # N: noise laws
    "N01": "a scale of noise outside 0.001 to 1e12",
    "N02": "an unknown law of noise, or one without an exact sampler",
    "N03": "a number of draws or cells, or a threshold, that is malformed",
    "N04": "a selection without integer utilities or points, or without a positive rate",
    # C: command line
    "C01": "a command or an option is misspelt",
    "C02": "no price is given",
    "C03": "an option has an unknown value",
    "C04": "no such ledger",
    "C05": "the output cannot be written",
    "C06": "options that do not go together, or that lack another one",
    # C10 on: combining parties
    "C10": "something to combine that is not a release, or is simulated",
    "C11": "answers that do not add up across parties",
    "C12": "releases of different questions, schemas or units",
    "C13": "a release is given twice",
    "C14": "too few parties",
    "C15": "no such party, or node of a tree, among those combined",
    "C16": "how parties differ, asked of a combination that cannot tell",
    "C17": "an unknown word for effects or their method",
    "C18": "a combination is used where a release is needed",
    "C19": "a hierarchy of levels that is malformed",
    "C20": "no answer file was found",
    "C21": "fewer answers than a study pools",
    "C22": "a question that a study does not have, or that does not combine",
    "C27": "cryptography is not installed",
    "C28": "a file for a new key exists already, or cannot be created",
    "C29": "a private key that cannot be read, or that other users can read",
    "C30": "a party's key is not the one that its study lists",
    "C35": "answers to average that are not of the same table",
    "C36": "fewer than two answers to average",
    # M: machine
    "M01": "the machine failed while rows were read; the message says nothing about the rows",
    "M10": "bounds of a parameter that are malformed, or exceed the values it can have",
    "M11": "no family has that name",
    "M12": "a family has no such parameter, or a setting of it is out of range",
    "M13": "a default outside the bounds of its parameter, or parameters that the model does not have",
    "M14": "a log-density that fails, or does not return one float for a row",
    "M15": "a log-density that is not a number where it must be one",
    "M16": "a log-density with callbacks or effects",
    "M17": "blocks of the wrong shape, or an unknown bias correction",
    "M18": "expectations or draws under a model that cannot be computed",
    "M21": "a statistic of a block that is not a function, or an unknown name of one",
    "M22": "a statistic of a block that fails on made-up rows, or returns other numbers than it has ranges",
    "M23": "a statistic of a block that cannot be sent to another process",
    "M24": "a machine on which no process can be started for a block",
}

NOTHING_SPENT: Final = "Nothing was read or spent."


class TacitError(Exception):
    """Base of all errors of this library.

    `code` is a key of `CODES`, `hint` what to type instead, and `state` what was spent before the failure (by default:
    nothing).  All three are keyword-only.

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
    """A query does not fit the schema or the neighbouring relation."""


class BudgetError(TacitError):
    """A price or a budget is malformed, or the budget does not admit the price."""


class LedgerError(TacitError):
    """A ledger is damaged, belongs to another table, has another version, or cannot be reached."""


class StudyError(TacitError):
    """A study is closed, is for other parties, or does not allow what was asked."""


class SourceError(TacitError):
    """A table cannot be opened, or its columns and types are not those of the schema.  No row was read."""


class ReleaseError(TacitError):
    """A release document is malformed or unknown, or does not contain what was asked."""


class InferenceError(TacitError):
    """An estimate was asked for something it cannot answer (a level below 0.5, an unknown term)."""


class ModelError(TacitError):
    """A family, the bounds of its parameters, or a user-defined log-density is wrong."""


class FileError(TacitError):
    """A TOML file, a site file or an output path is wrong."""


class CommandError(TacitError):
    """A command or its options are wrong."""


class MachineError(TacitError):
    """The machine failed while data were read.  The message is constant: details are in the curator's own log only."""

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
    """Return the known word closest to `word`, or None where none is close.

    >>> nearest("incme", ["age", "income"])
    'income'
    """
    import difflib

    if not isinstance(word, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        return None
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return found[0] if found else None
