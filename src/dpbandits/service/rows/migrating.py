"""A database is brought up to the version that this code knows, or refused if it knows a newer
one.
"""

from importlib.resources import files

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, inspect, text

from dpbandits.core.errors import StoreError


def config_of(connection: Connection) -> Config:
    """Alembic's settings, without a file."""
    config = Config()
    folder = files("dpbandits.service.rows").joinpath("migrations")
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def bring_up(engine: Engine) -> None:
    """Bring a database up to date; one that is empty gets its tables.

    Raises:
        StoreError: it is another program's, or of a version that is not known here.
    """
    with engine.connect() as connection:
        lite = connection.dialect.name == "sqlite"
        config = config_of(connection)
        script = ScriptDirectory.from_config(config)
        if revision_of(connection) == script.get_current_head():
            return
        connection.rollback()
        if lite:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:  # one at a time: several workers start at once
            connection.execute(text("SELECT pg_advisory_xact_lock(7305180139)"))
        current = revision_of(connection)
        known = {revision.revision for revision in script.walk_revisions()}
        if current is not None and current not in known:
            raise StoreError(
                f"This database is of version {current}, which this version of dpbandits does not "
                f"know (its newest is {script.get_current_head()}). "
                "Use the dpbandits that wrote it."
            )
        if current is None and inspect(connection).has_table("decision"):
            raise StoreError(
                "This database has tables of these names that are not a store's. Give the store a "
                "database of its own."
            )
        command.upgrade(config, "head")
        connection.commit()


def require_newest(engine: Engine) -> None:
    """Refuse a database that this code would have to bring up to date: those who only look may not.

    Raises:
        StoreError: it is of another version, or no store.
    """
    with engine.connect() as connection:
        newest = ScriptDirectory.from_config(config_of(connection)).get_current_head()
        found = revision_of(connection)
    if found != newest:
        raise StoreError(
            f"Expected a store of version {newest}, got {found or 'none'}. Whoever serves it "
            "brings it up to date, with the same dpbandits."
        )


def revision_of(connection: Connection) -> str | None:
    """A database's version; None: it is empty, or another program's."""
    return MigrationContext.configure(connection).get_current_revision()
