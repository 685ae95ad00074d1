"""Keeps every placement decision in a database, each once, through kills and restarts.

usage: subscriber.py DATABASE
"""

import asyncio
import sqlite3
import sys
from contextlib import closing

import spokewire

TABLE = "CREATE TABLE IF NOT EXISTS decisions (id TEXT PRIMARY KEY, placement TEXT, clusters TEXT)"


async def main(path: str) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute(TABLE)
        async with spokewire.connect() as bus:
            async for delivery in bus.decisions("example-subscriber", ack_wait="2s"):
                keep(database, delivery)
                await delivery.ack()  # not before the effect: what is killed here comes again


def keep(database: sqlite3.Connection, delivery: spokewire.Delivery[spokewire.Decision]) -> None:
    clusters = ""  # of a Deleted: nothing is decided any more
    if isinstance(delivery.payload, spokewire.PlacementDecision):
        clusters = " ".join(c.name for c in delivery.payload.clusters)
    placement = f"{delivery.subject.namespace}/{delivery.subject.name}"
    with database:  # and what came again, and is there already, changes nothing
        database.execute(
            "INSERT OR IGNORE INTO decisions VALUES (?, ?, ?)",
            (delivery.event.get_id(), placement, clusters),
        )


if len(sys.argv) != 2:
    sys.exit(__doc__)
asyncio.run(main(sys.argv[1]))
