"""Two readers find nothing; alice is held before her LOCK put until bob has published."""
import json
import os
import subprocess
import threading
import urllib.request

import boto3
import pytest
from botocore.config import Config

import cache


@pytest.fixture
def server():
    process = subprocess.Popen([os.environ.get("ISR_SIM", "isr-sim"), "serve", "--clock", "manual"],
                               stdout=subprocess.PIPE, text=True)
    yield json.loads(process.stdout.readline())
    process.terminate()
    assert process.wait(10) == 0, "a held request was never released"


def client(server, actor):
    return boto3.client("dynamodb", endpoint_url=server["endpoint"], region_name="us-east-1", aws_access_key_id=actor,
                        aws_secret_access_key="secret", config=Config(retries={"total_max_attempts": 1}))


def control(server, path, body):
    request = urllib.request.Request(server["control"] + path, json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


@pytest.mark.parametrize("look_again, want", [(True, 1), (False, 2)])
def test_stampede(server, look_again, want):
    alice, bob = client(server, "alice"), client(server, "bob")
    alice.create_table(
        TableName=cache.TABLE, BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}])
    renders = []

    def reader(db, name):
        cache.get(db, lambda: renders.append(name) or name, look_again)

    control(server, "/faults", {"faults": ["hold op=PutItem key=LOCK actor=alice"]})
    thread = threading.Thread(target=reader, args=(alice, "alice"))
    thread.start()
    control(server, "/held", {"count": 1})  # alice has found nothing
    reader(bob, "bob")  # bob finds nothing either, renders and publishes
    control(server, "/release", {"all": True})
    thread.join(10)
    assert len(renders) == want
