"""Scores each cluster by its free GPUs: none are 0 points, 8 or more are 100."""

import asyncio
from datetime import timedelta

import spokewire


async def main() -> None:
    async with spokewire.connect() as bus:
        async for update in bus.watch_metrics(source="nvidia"):
            match update:
                case spokewire.Stored(received):
                    free = [s.value for s in received.payload.samples if s.name == "gpu_free"]
                    await bus.publish_score(
                        received.subject.cluster,
                        "gpu-python",
                        100 * min(sum(free), 8) / 8 if free else None,
                        valid_until=received.observed_at + timedelta(seconds=60),
                    )
                case spokewire.Unreadable(message, error):
                    print(f"passed over number {message.sequence}: {error}")


asyncio.run(main())
