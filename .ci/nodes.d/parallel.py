# A node that has requests under way in several threads, and in threads that asyncio waits for, with a timer beside
# them.
import isr_sim  # before anything else

import asyncio
import concurrent.futures
import threading
import time

import boto3


class Node:
    def __init__(self, init):
        self.table = init["table"]
        self.db = boto3.client("dynamodb", **isr_sim.boto3_options(init))

    def row(self, name):
        return {"pk": {"S": "CACHE#" + name}, "sk": {"S": "META"}}

    def read(self, name):
        item = self.db.get_item(TableName=self.table, Key=self.row(name), ConsistentRead=True).get("Item")
        return int(item["generated_at"]["N"]) if item else 0

    def write(self, name, by):
        item = {**self.row(name), "s3_key": {"S": name}, "generated_at": {"N": str(self.read(name) + by)}}
        self.db.put_item(TableName=self.table, Item=item)

    def get(self, key):
        ticks, over = [], threading.Event()

        def tick():
            while not over.wait(0.7):
                ticks.append(time.time())

        beat = threading.Thread(target=tick)
        beat.start()
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            found = list(pool.map(self.read, ["a", "b", "c"]))
        writers = [threading.Thread(target=self.write, args=(name, 1)) for name in ["a", "b", "a"]]
        for w in writers:
            w.start()
        for w in writers:
            w.join()
        now = asyncio.run(self.later())
        over.set()
        beat.join()
        return "%s then %s in %d ticks" % (found, now, len(ticks)), False

    async def later(self):
        await asyncio.sleep(2)
        return await asyncio.gather(*(asyncio.to_thread(self.read, name) for name in ["b", "a"]))


isr_sim.node(Node, ["get"])
