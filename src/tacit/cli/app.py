"""Words of the command line.  Each command is a few lines; what it does is in `actions`, imported when it runs.

Exit codes: 0 done, 2 bad input, 3 refused by the budget, 4 combined without some parties, 5 the machine failed behind
the wall, 70 a defect of tacit, 130 interrupted, 1 the reader went away.  No traceback is shown: it may hold data.
"""

from __future__ import annotations

import io
import sys
from typing import Annotated, Any, Final, NoReturn

import typer

from tacit.cli.command_examples import examples
from tacit.cli.endings import INTERRUPTED, MACHINE, defect, failed, interrupted
from tacit.cli.key_commands import Json
from tacit.cli.key_commands import app as keys
from tacit.cli.output import let_go, say

DONE, BAD, REFUSED, SOME = 0, 2, 3, 4
PATH: Final = "A curator's file, or a study (TOML)."

app = typer.Typer(
    name="tacit",
    help="Private statistics you can infer from.",
    epilog=examples(""),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
Epsilon = Annotated[str | None, typer.Option("--epsilon", help="Price instead of the file's [spend].")]
Delta = Annotated[str | None, typer.Option("--delta", help="With --epsilon.")]
Rho = Annotated[str | None, typer.Option("--rho", help="Price instead of the file's [spend].")]
Analyst = Annotated[str | None, typer.Option("--analyst", help="Who asks, instead of the file's [data] analyst.")]
Level = Annotated[float, typer.Option("--level", help="Level of the intervals.")]
OwnLevel = Annotated[float | None, typer.Option("--level", help="Of the intervals: 0.95, of quantiles as asked.")]
Save = Annotated[str | None, typer.Option("--save", help="Write the table (.md .tex .html .csv .json .txt).")]
Plot = Annotated[str | None, typer.Option("--plot", help="Write the picture (.png .svg .pdf); of several, one each.")]
Everything = Annotated[bool, typer.Option("--all", help="All rows of a long table, not its head and tail.")]
Job = Annotated[str, typer.Argument(metavar="FILE.toml", help=PATH)]
Site = Annotated[str | None, typer.Option("--site", help="A party's own page (TOML), where FILE is a study.")]


@app.command(epilog=examples("demo"))
def demo(as_json: Json = False) -> None:
    """Show what the tool does, on made-up people; writes one picture where matplotlib is installed."""
    from tacit.cli import show_commands as showing

    showing.demo(as_json)


@app.command(epilog=examples("schema"))
def schema(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="A CSV, Parquet or Arrow file.")],
    save: Annotated[str | None, typer.Option("--save", help="Write it to a new file.")] = None,
    no_rows: Annotated[bool, typer.Option("--no-rows", help="Of text: from the names alone, no suggestion.")] = False,
    delimiter: Annotated[str | None, typer.Option(help="Of text: between cells.")] = None,
    as_json: Json = False,
) -> None:
    """Draft a curator's file: names and types; bounds, levels, prices and questions are left to fill in.

    A text file has no types: its rows are read, and what they look like is a comment, for the steward's eyes.
    """
    from tacit.cli import draft_commands as drafting

    drafting.schema(table, save, no_rows, delimiter, as_json)


@app.command(epilog=examples("check"))
def check(job: Job, site: Site = None, as_json: Json = False) -> None:
    """Compare a file with its table (names, types) and its budget; design its questions. No row is read."""
    from tacit.cli import actions

    actions.check(job, site, as_json)


@app.command("import", epilog=examples("import"))
def import_(
    raw: Annotated[str, typer.Argument(metavar="RAW.csv", help="A text file with a line of names.")],
    job: Annotated[str, typer.Option("--schema", help=PATH)],
    out: Annotated[str, typer.Option("--out", help="The typed table to write (.parquet).")],
    delimiter: Annotated[str, typer.Option(help="Between cells.")] = ",",
    quote: Annotated[str, typer.Option(help="Around cells that hold a delimiter.")] = '"',
    encoding: Annotated[str, typer.Option(help="Of the raw file.")] = "utf-8-sig",
    decimal: Annotated[str, typer.Option(help="Decimal mark of numbers.")] = ".",
    thousands: Annotated[str, typer.Option(help="Mark between thousands.")] = "",
    strip: Annotated[str, typer.Option(help="Signs to drop from numbers, such as '%€'.")] = "",
    dates: Annotated[str | None, typer.Option(help="How days are written, such as %d.%m.%Y.")] = None,
    missing: Annotated[list[str] | None, typer.Option(help="Text of missing cells, such as k.A. or hours=-9.")] = None,
    no_header: Annotated[bool, typer.Option("--no-header", help="The first line is a row, not names.")] = False,
    drop_broken: Annotated[bool, typer.Option("--drop-broken", help="Leave rows out that cannot be split.")] = False,
    as_json: Json = False,
) -> None:
    """Turn raw text into a typed table, and say what could not be read.  For the curator's eyes: not a release."""
    from tacit.cli import actions

    reading: dict[str, Any] = {"delimiter": delimiter, "quote": quote, "encoding": encoding, "decimal": decimal}
    reading |= {"thousands": thousands, "strip": strip, "dates": dates, "header": not no_header, "missing": missing}
    actions.import_raw(raw, job, out, reading, drop_broken, as_json)


@app.command(epilog=examples("explain"))
def explain(
    what: Annotated[
        str | None, typer.Argument(metavar="FILE", help="A ledger, releases (JSON), a curator's file or a study.")
    ] = None,
    epsilon: Annotated[str | None, typer.Option("--epsilon", help="A price, in place of a file.")] = None,
    delta: Delta = None,
    rho: Annotated[str | None, typer.Option("--rho", help="A price, in place of a file.")] = None,
    mu: Annotated[str | None, typer.Option("--mu", help="Of Gaussian differential privacy.")] = None,
    neighbors: Annotated[str | None, typer.Option("--neighbors", help="Of a price: replace-one or add-remove.")] = None,
    releases: Annotated[
        list[int] | None, typer.Option("--releases", help="What so many releases cost together; repeat it.")
    ] = None,
    parts: Annotated[
        list[int] | None, typer.Option("--parts", help="Noise of the price spent in so many parts; repeat it.")
    ] = None,
    population: Annotated[
        int | None, typer.Option("--population", help="Of so many people with a yes or no, how many are guessed right.")
    ] = None,
    columns: Annotated[int | None, typer.Option("--columns", help="What the means of so many columns need.")] = None,
    attack: Annotated[bool, typer.Option("--attack", help="Play the differencing attack on made-up people.")] = False,
    save: Annotated[str | None, typer.Option("--save", help="Write the page (.html .txt .docx .pdf).")] = None,
    plot: Annotated[str | None, typer.Option("--plot", help="Draw the best attacker (.png .svg .pdf).")] = None,
    as_json: Json = False,
) -> None:
    """Say what a price means for one person: suspicions, the best attacker, groups, repeated releases."""
    from tacit.cli import explain_commands as explaining

    price = {"epsilon": epsilon, "delta": delta, "rho": rho, "mu": mu}
    tables = explaining.TablesBeside(releases or [], parts or [], population, columns, attack)
    explaining.explain(what, price, neighbors, tables, save, plot, as_json)


@app.command(epilog=examples("plan"))
def plan(
    job: Job,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    analyst: Analyst = None,
    level: Annotated[float | None, typer.Option("--level", help="Of the intervals: 0.95, or the study's.")] = None,
    width: Annotated[
        list[str] | None, typer.Option("--width", help="Of a study: NAME=WIDTH wanted of all parties together.")
    ] = None,
    expect: Annotated[
        list[str] | None,
        typer.Option("--expect", help="What is known of a column, as in [expect]: 'fare = { mean = 12, sd = 9 }'."),
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Of each question: every method that could answer it, at its share.")
    ] = False,
    save: Annotated[
        str | None,
        typer.Option("--save", help="Write the page to be signed (.html .txt .docx .pdf); with --compare the tables."),
    ] = None,
    plot: Annotated[str | None, typer.Option("--plot", help="With --compare: draw the widths, one file each.")] = None,
    as_json: Json = False,
) -> None:
    """One page for whoever must approve: promise, numbers, cost, expected precision, cautions.  Spends nothing."""
    from tacit.cli import actions

    price = {"epsilon": epsilon, "delta": delta, "rho": rho}
    if compare or plot is not None:
        from tacit.cli import compare_commands as comparing

        comparing.compare(job, price, compare, level, width or [], save, plot, expect or [], as_json)
        return
    actions.plan(job, price, analyst, level, width or [], save, as_json, expect or [])


@app.command(epilog=examples("release"))
def release(
    job: Job,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    analyst: Analyst = None,
    site: Site = None,
    note: Annotated[str, typer.Option("--note", help="Kept with the charge.")] = "",
    save: Annotated[
        str | None, typer.Option("--save", help="Where to write (default: FILE.release.json, or SITE.release.json).")
    ] = None,
    level: OwnLevel = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Buy once more what was answered before, at its price; not with --site.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Buy all answers of a file, or none; writes FILE.release.json.  The same again is free."""
    from tacit.cli import actions
    from tacit.cli import study_commands as studies

    price = {"epsilon": epsilon, "delta": delta, "rho": rho}
    if site is None:
        actions.release(job, price, analyst, note, save, level, fresh, as_json)
    elif fresh:
        from tacit.errors import CommandError

        raise CommandError("a party answers a study once.", code="C06", hint="leave --fresh out")
    else:
        studies.release(job, site, price, analyst, note, save, level, as_json)


app.add_typer(keys, name="keys")


def _schema(asked: bool) -> None:
    """`tacit show --schema`, which needs no file."""
    if asked:
        from tacit.cli import show_commands as showing

        showing.schema()
        raise typer.Exit()


@app.command(epilog=examples("show"))
def show(
    path: Annotated[str, typer.Argument(metavar="FILE", help="One or several releases (JSON), or a ledger.")],
    name: Annotated[str | None, typer.Option("--name", help="One of them.")] = None,
    target: Annotated[str, typer.Option("--target", help="population, or table (privacy error only).")] = "population",
    linear: Annotated[
        bool, typer.Option("--linear", help="Regressions: the mean is linear however far out rows lie.")
    ] = False,
    level: OwnLevel = None,
    save: Save = None,
    plot: Plot = None,
    everything: Everything = False,
    schema: Annotated[  # printed at once, without a file
        bool, typer.Option("--schema", callback=_schema, is_eager=True, help="Print the JSON Schema of releases.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Estimates with standard errors and intervals; of a ledger, a list of its questions and answers.

    Needs no data and costs nothing.
    """
    from tacit.cli import show_commands as showing

    showing.show(path, name, showing.Told(target, linear), level, save, plot, everything, as_json)


@app.command(epilog=examples("fit"))
def fit(
    path: Annotated[str, typer.Argument(metavar="FILE.release.json", help="One or several releases.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="Which of them: a histogram.")],
    formula: Annotated[str, typer.Argument(metavar="FORMULA", help="'income ~ age + sex'; with --family a column.")],
    model: Annotated[
        str, typer.Option("--model", help="linear, logistic, probit, poisson, gamma, quantile, huber.")
    ] = "linear",
    family: Annotated[
        str | None, typer.Option("--family", help="normal, lognormal, exponential, gamma, weibull, beta.")
    ] = None,
    method: Annotated[
        str, typer.Option("--method", help="corrected for binning, midpoint, or as published: lei-2011.")
    ] = "corrected",
    tau: Annotated[float, typer.Option("--tau", help="Level of a quantile regression.")] = 0.5,
    level: Level = 0.95,
    save: Save = None,
    plot: Plot = None,
    everything: Everything = False,
    as_json: Json = False,
) -> None:
    """Fit a model to a released histogram, as often as you like; needs no data and costs nothing."""
    from tacit.cli import fit_commands as fitting

    wanted = fitting.ModelRequest(formula, model, family, method, tau)
    fitting.fit(path, name, wanted, level, save, plot, everything, as_json)


@app.command(epilog=examples("combine"))
def combine(
    study: Annotated[str, typer.Argument(metavar="STUDY.toml", help="The study (TOML).")],
    returned: Annotated[list[str], typer.Argument(metavar="FILE.json...", help="What came back, or its folder.")],
    effects: Annotated[str | None, typer.Option("--effects", help="common or random, instead of the study's.")] = None,
    level: Annotated[float | None, typer.Option("--level", help="Of the intervals: the study's.")] = None,
    save: Annotated[str | None, typer.Option("--save", help="Write tables to this folder.")] = None,
    plot: Annotated[
        str | None, typer.Option("--plot", help="Draw forest plots: forest.png, of several questions forest-NAME.png.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Combine the parties' answers to a study; wrong ones are left out by name and reason.

    The exit code is 4 where a party is left out: its answer was refused, or is missing and not optional.
    """
    from tacit.cli import study_commands as studies

    if studies.combine(study, returned, effects, level, save, plot, as_json):
        raise typer.Exit(SOME)


@app.command(epilog=examples("budget"))
def budget(
    ledger: Annotated[str, typer.Argument(metavar="LEDGER", help="A ledger file or a postgresql:// URL.")],
    check: Annotated[list[str] | None, typer.Option("--check", help="Releases to hold against the chain.")] = None,
    more: Annotated[list[str] | None, typer.Argument(metavar="[RELEASES]", help="More releases to check.")] = None,
    raise_to_epsilon: Annotated[str | None, typer.Option(help="Record a raise of the total, with --note.")] = None,
    raise_to_delta: Annotated[str | None, typer.Option(help="Where the budget has one.")] = None,
    raise_to_rho: Annotated[str | None, typer.Option(help="Record a raise of the total, with --note.")] = None,
    analyst: Annotated[str | None, typer.Option(help="Whose limit is recorded.")] = None,
    limit_to_epsilon: Annotated[str | None, typer.Option(help="Limit that analyst, with --note.")] = None,
    limit_to_delta: Annotated[str | None, typer.Option(help="Where the budget has one.")] = None,
    limit_to_rho: Annotated[str | None, typer.Option(help="Limit that analyst, with --note.")] = None,
    note: Annotated[str, typer.Option(help="Who decided a raise or a limit, and where it is written.")] = "",
    backup: Annotated[str | None, typer.Option("--backup", help="Copy the ledger to a new file, verified.")] = None,
    as_json: Json = False,
) -> None:
    """List a ledger's charges, what is spent and left, and verify its chain, its sums and its file.

    A raise of the total or a limit of one analyst is recorded first, for good, among the charges.
    """
    from tacit.cli import ledger_commands as ledgers

    total = {"epsilon": raise_to_epsilon, "delta": raise_to_delta, "rho": raise_to_rho}
    limit = {"epsilon": limit_to_epsilon, "delta": limit_to_delta, "rho": limit_to_rho}
    change = ledgers.Change(total, limit, analyst, note)
    ledgers.budget(ledger, [*(check or []), *(more or [])], change, backup, as_json)


def main() -> NoReturn:
    """Run the command line: every end is an exit code, no end a traceback."""
    # looked for by hand: an error in parsing the command line is reported in the asked form, too
    as_json = "--json" in sys.argv
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without ρ shows "?"; nothing fails after a charge
    try:
        code: Any = app(standalone_mode=False)  # a typer.Exit comes back as its code
        if code == INTERRUPTED:  # how typer hands on a KeyboardInterrupt
            code = interrupted(as_json)
    except (KeyboardInterrupt, typer.Abort):
        code = interrupted(as_json)
    except Exception as problem:
        code = _end_of_error(problem, as_json)
    let_go()
    sys.exit(code if isinstance(code, int) else DONE)


def _end_of_error(problem: Exception, as_json: bool) -> int:
    """Print an error and return the exit code, also where nothing can be printed any more.

    Handles or memory that ran out fail again here; Python would print both tracebacks, the first perhaps with rows.
    """
    try:
        return _print_error(problem, as_json)
    except Exception:
        return failed("the machine failed: an error could not be shown", as_json)


def _print_error(problem: Exception, as_json: bool) -> int:
    """Print an error in one line and return the exit code."""
    from tacit.cli.dialect import in_shell, text_in_shell
    from tacit.errors import CommandError, TacitError

    words = getattr(problem, "format_message", None)
    if type(problem).__name__ == "NoArgsIsHelpError" and words is not None:  # `tacit` alone
        say({}, words(), False)
        return BAD
    if words is not None:  # a misspelt option or command
        problem = CommandError(words().rstrip(".") + ".", code="C01", hint=_help(), state=None)
    if isinstance(problem, TacitError):
        # a mistake in a section of a file is mended there, not by an option
        options = {} if problem.message.startswith("[") else _options()
        problem.hint = None if problem.hint is None else in_shell(problem.hint, options)
        # of the command line's own errors the words are those of a shell already, and quote what was typed
        if not isinstance(problem, CommandError):
            problem.message = text_in_shell(problem.message, options)
        error = {"error": type(problem).__name__, "code": problem.code, "message": problem.message}
        say(error | {"hint": problem.hint, "state": problem.state}, f"{type(problem).__name__} {problem}", as_json)
        # only a refusal by a budget is 3: a script may ask for less and try again
        return {"B02": REFUSED, "B12": REFUSED, "M01": MACHINE}.get(problem.code, BAD)
    return failed("the machine ran out of memory", as_json) if isinstance(problem, MemoryError) else defect(as_json)


def _typed() -> Any:
    """Return the command that was typed, None if there is none of that name."""
    known: dict[str, Any] = getattr(typer.main.get_command(app), "commands", {})
    return next((known[word] for word in sys.argv[1:2] if word in known), None)


def _help() -> str:
    """Return the command that says what may be typed."""
    return "tacit --help" if _typed() is None else f"tacit {sys.argv[1]} --help"


def _options() -> dict[str, str]:
    """Return the options of the command that was typed, by the names of their arguments in Python."""
    typed = _typed()
    params: list[Any] = [] if typed is None else list(typed.params)
    return {str(one.name): one.opts[-1] for one in params if one.opts[-1].startswith("--")}
