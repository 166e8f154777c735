"""Decorated coroutines and async generators: the mode holds while they compute, not while they are suspended."""

import asyncio

import flambeau


def test_coroutine():
    @flambeau.no_grad()
    async def work():
        before = flambeau.is_grad_enabled()
        await asyncio.sleep(0)
        return before, flambeau.is_grad_enabled()

    async def watch():
        task = asyncio.ensure_future(work())
        seen = []
        while not task.done():
            seen.append(flambeau.is_grad_enabled())
            await asyncio.sleep(0)
        return await task, seen

    result, seen = asyncio.run(watch())
    assert result == (False, False)
    assert all(seen)


def test_async_generator():
    @flambeau.no_grad()
    async def numbers():
        for number in range(3):
            await asyncio.sleep(0)
            received = yield number, flambeau.is_grad_enabled()
            assert received in (None, "sent")

    async def collect():
        seen = []
        async for item in numbers():
            assert flambeau.is_grad_enabled()
            seen.append(item)
        generator = numbers()
        await generator.asend(None)
        seen.append(await generator.asend("sent"))
        await generator.aclose()
        return seen

    assert asyncio.run(collect()) == [(0, False), (1, False), (2, False), (1, False)]
