"""What Alembic runs: the connection comes from `dpbandits.service.rows.migrating`."""

from alembic import context

from dpbandits.service.rows.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
