"""A page cache on DynamoDB, over plain boto3: the same as cache.ts."""

import hashlib
import math
import time
import uuid

import boto3
from botocore.exceptions import ClientError


def now():
    return math.floor(time.time())


def S(s):
    return {"S": s}


def N(n):
    return {"N": str(math.ceil(n))}


def refused(e, code):
    return e.response["Error"]["Code"] == code


class Cache:
    def __init__(self, options, table, tenant, config, bodies, origin):
        self.db = boto3.client("dynamodb", **options)
        self.table, self.tenant, self.config, self.bodies, self.origin = table, tenant, config, bodies, origin

    def get(self, key):
        looks = 0
        while True:
            page = self.read(key)
            if page and now() < page["until"]:
                return self.serve(page)
            token = self.try_acquire_lease(key)
            try:
                made = self.regenerate(key, token) if token else None
            except Exception:
                self.release(key, token)  # nobody need wait for the lease's end
                raise
            if made:
                return made
            patient = looks < self.config["patience"]
            if not token and page and (self.config["contention"] == "serve-stale" or not patient):
                return self.serve(page)
            if not patient:
                raise TimeoutError("gave up waiting for " + key)
            if not token:
                time.sleep(self.config["poll"])
            looks += 1

    def regenerate(self, key, token):
        again = self.read(key)  # the holder before may have made it
        if again and now() < again["until"]:
            self.release(key, token)
            return self.serve(again)
        at = now()
        body = self.origin(key)
        page = {"s3_key": key + "/" + token, "until": at + self.config["revalidate"]}
        self.bodies.put(page["s3_key"], body)
        return self.serve(page, body) if self.commit_generation(key, token, at, page) else None

    def try_acquire_lease(self, key):
        token, expires = str(uuid.uuid4()), time.time() + self.config["lease"]
        lock = {"lease_token": S(token), "lease_expires_at": N(expires), "ttl": N(expires + self.config["ttlBuffer"])}
        try:
            self.db.put_item(
                TableName=self.table, Item={**self.row(key, "LOCK"), **lock},
                ConditionExpression="attribute_not_exists(pk) OR lease_expires_at <= :now",
                ExpressionAttributeValues={":now": N(now())})
            return token
        except ClientError as e:
            if not refused(e, "ConditionalCheckFailedException"):
                raise
            row = self.row(key, "LOCK")
            held = self.db.get_item(TableName=self.table, Key=row, ConsistentRead=True).get("Item", {})
            return token if held.get("lease_token") == S(token) else None  # its own put, whose answer was lost

    def commit_generation(self, key, token, at, page):
        meta = {"s3_key": S(page["s3_key"]), "generated_at": N(at), "revalidate_seconds": N(self.config["revalidate"]),
                "ttl": N(page["until"] + self.config["retention"] + self.config["ttlBuffer"])}
        own = {"ConditionExpression": "lease_token = :token AND lease_expires_at > :now",
               "ExpressionAttributeValues": {":token": S(token), ":now": N(now())}}
        try:
            self.db.transact_write_items(TransactItems=[
                {"Put": {"TableName": self.table, "Item": {**self.row(key, "META"), **meta}}},
                {"Delete": {"TableName": self.table, "Key": self.row(key, "LOCK"), **own}}])
            return True
        except ClientError as e:
            if not refused(e, "TransactionCanceledException"):
                raise
            read = self.read(key)
            own = bool(read) and read["s3_key"] == page["s3_key"]  # its own commit, whose answer was lost
            if not own:
                self.release(key, token)  # which it still has if the service refused for a reason of its own
            return own

    def release(self, key, token):
        try:
            self.db.delete_item(
                TableName=self.table, Key=self.row(key, "LOCK"), ConditionExpression="lease_token = :token",
                ExpressionAttributeValues={":token": S(token)})
        except ClientError:
            pass  # the lease ends by itself

    def serve(self, page, made=None):
        body = made or self.bodies.get(page["s3_key"])  # which takes time: fresh is judged after it
        return body, now() < page["until"]

    def read(self, key):
        item = self.db.get_item(TableName=self.table, Key=self.row(key, "META"), ConsistentRead=True).get("Item")
        return item and {
            "s3_key": item["s3_key"]["S"],
            "until": int(item["generated_at"]["N"]) + int(item["revalidate_seconds"]["N"])}

    def row(self, key, sk):
        page = "CACHE#" + hashlib.sha256(key.encode()).hexdigest()
        return {"pk": S("TENANT#%s#%s" % (self.tenant, page) if self.tenant else page), "sk": S(sk)}
