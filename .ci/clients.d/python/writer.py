"""Writers of an ISR cache with boto3 against isr-sim serve --check: see .ci/clients.

A correct one is not heard of; one that publishes without a fence is named as soon as its request is answered.
"""

import json
import os
import time
import urllib.request
import uuid

import boto3

TABLE = "boto3-cache"
PK = "CACHE#1"


def client(actor):
    return boto3.client(
        "dynamodb",
        endpoint_url=os.environ["ENDPOINT"],
        region_name="us-east-1",
        aws_access_key_id=actor,
        aws_secret_access_key="secret",
    )


def s(text):
    return {"S": text}


def n(number):
    return {"N": str(number)}


def key(sk):
    return {"pk": s(PK), "sk": s(sk)}


def acquire(db, token):
    now = int(time.time())
    db.put_item(
        TableName=TABLE,
        Item={**key("LOCK"), "lease_token": s(token), "lease_expires_at": n(now + 30), "ttl": n(now + 3630)},
        ConditionExpression="attribute_not_exists(pk) OR lease_expires_at <= :now",
        ExpressionAttributeValues={":now": n(now)},
    )


def meta(body):
    now = int(time.time())
    return {**key("META"), "s3_key": s(body), "generated_at": n(now), "revalidate_seconds": n(60), "ttl": n(now + 3660)}


def publish(db, token):
    """One transaction puts META and releases the lease, if it is still one's own."""
    db.transact_write_items(
        TransactItems=[
            {"Put": {"TableName": TABLE, "Item": meta("pages/" + token)}},
            {
                "Delete": {
                    "TableName": TABLE,
                    "Key": key("LOCK"),
                    "ConditionExpression": "lease_token = :token AND lease_expires_at > :now",
                    "ExpressionAttributeValues": {":token": s(token), ":now": n(int(time.time()))},
                }
            },
        ]
    )


def publish_without_a_fence(db, token):
    """META is put, and nobody asks whose lease it is."""
    db.put_item(TableName=TABLE, Item=meta("pages/" + token))


def found():
    with urllib.request.urlopen(os.environ["CONTROL"] + "/violations") as response:
        return [(f["verdict"], f["invariant"], f["actor"]) for f in json.load(response)["found"]]


def check(got, want, what):
    if got != want:
        raise AssertionError(f"{what}: got {got!r}, want {want!r}")


careful, careless = client("careful-boto3"), client("careless-boto3")
careful.create_table(
    TableName=TABLE,
    BillingMode="PAY_PER_REQUEST",
    AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("pk", "sk")],
    KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
)
careful.get_waiter("table_exists").wait(TableName=TABLE)

before = found()
for _ in range(3):
    token = str(uuid.uuid4())
    acquire(careful, token)
    publish(careful, token)
check(found(), before, "after three publishes of a correct writer")

late = str(uuid.uuid4())
acquire(careless, late)
careless.delete_item(TableName=TABLE, Key=key("LOCK"))  # as if it had slept past its lease
token = str(uuid.uuid4())
acquire(careful, token)
check(found(), before, "while nobody has published out of turn")
publish_without_a_fence(careless, late)
check(found()[len(before):], [("violated", "stale-writer", "careless-boto3")], "after one publish without a fence")
publish(careful, token)
check(found()[len(before) + 1:], [], "after the correct writer went on")
print("clients: boto3: a writer without a fence is named, a correct one is not")
