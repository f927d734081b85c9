"""boto3 against isr-sim serve: see .ci/clients."""

import gzip
import json
import os
import sys
import urllib.request
import zlib

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

TABLE = "boto3"
client, streams = (
    boto3.client(
        service,
        endpoint_url=os.environ["ENDPOINT"],
        region_name="us-east-1",
        aws_access_key_id="snake",
        aws_secret_access_key="secret",
        config=Config(retries={"mode": "standard", "max_attempts": 3}),
    )
    for service in ("dynamodb", "dynamodbstreams")
)


def s(text):
    return {"S": text}


def key(pk, sk):
    return {"pk": s(pk), "sk": s(sk)}


def check(got, want, what):
    if got != want:
        raise AssertionError(f"{what}: got {got!r}, want {want!r}")


def refused(code, call, **arguments):
    """Makes a call that must fail with this code, and returns its answer."""
    try:
        call(**arguments)
    except ClientError as e:
        check(e.response["Error"]["Code"], code, "error code")
        return e.response
    raise AssertionError(f"a call succeeded, want {code}")


def control(path, body=""):
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(os.environ["CONTROL"] + path, body.encode(), headers, method="POST")
    with urllib.request.urlopen(request) as response:
        return response.read()


def create_table():
    client.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": n, "AttributeType": "S"} for n in ("pk", "sk")],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    )
    client.get_waiter("table_exists").wait(TableName=TABLE)


def ttl():
    setting = {"TableName": TABLE, "TimeToLiveSpecification": {"AttributeName": "ttl", "Enabled": True}}
    client.update_time_to_live(**setting)
    description = client.describe_time_to_live(TableName=TABLE)["TimeToLiveDescription"]
    check(description, {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"}, "description")
    refused("ValidationException", client.update_time_to_live, **setting)
    client.put_item(TableName=TABLE, Item={**key("expired", "x"), "ttl": {"N": os.environ["A_MINUTE_AGO"]}})
    for there in (True, False):
        check("Item" in client.get_item(TableName=TABLE, Key=key("expired", "x")), there, "an expired row is there")
        control("/sweep")


def conditional_put():
    put = {"TableName": TABLE, "ConditionExpression": "attribute_not_exists(pk)"}
    client.put_item(Item={**key("lock", "LOCK"), "owner": s("first")}, **put)
    answer = refused("ConditionalCheckFailedException", client.put_item, Item=key("lock", "LOCK"), **put)
    check(answer["Error"]["Message"], "The conditional request failed", "message")


def legacy_parameters():
    """What clients from before expressions send."""
    put = {"TableName": TABLE, "Expected": {"pk": {"Exists": False}}}
    client.put_item(Item={**key("legacy", "x"), "n": {"N": "1"}}, **put)
    refused("ConditionalCheckFailedException", client.put_item, Item=key("legacy", "x"), **put)
    update = {
        "TableName": TABLE,
        "Key": key("legacy", "x"),
        "AttributeUpdates": {
            "n": {"Action": "ADD", "Value": {"N": "41"}},
            "tags": {"Action": "PUT", "Value": {"SS": ["a", "b"]}},
        },
        "Expected": {"n": {"ComparisonOperator": "LT", "AttributeValueList": [{"N": "2"}]}},
        "ReturnValues": "UPDATED_NEW",
    }
    answer = client.update_item(**update)
    check(answer["Attributes"]["n"], {"N": "42"}, "sum")
    check(sorted(answer["Attributes"]["tags"]["SS"]), ["a", "b"], "set")
    refused("ConditionalCheckFailedException", client.update_item, **update)
    page = client.query(
        TableName=TABLE,
        KeyConditions={"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [s("legacy")]}},
        QueryFilter={"tags": {"ComparisonOperator": "CONTAINS", "AttributeValueList": [s("a")]}},
        AttributesToGet=["n"],
    )
    check(page["Items"], [{"n": {"N": "42"}}], "rows of a query")
    page = client.scan(TableName=TABLE, ScanFilter={"tags": {"ComparisonOperator": "NOT_NULL"}})
    check(page["Count"], 1, "rows of a scan")
    mixed = {"ConditionExpression": "attribute_exists(pk)", **update}
    answer = refused("ValidationException", client.update_item, **mixed)
    check("Can not use both expression and non-expression parameters" in answer["Error"]["Message"], True, "message")


def lost_response():
    """The put takes effect, its response is lost, and botocore's own retry fails on the condition."""
    control("/faults", '{"faults":["response-lost op=PutItem actor=snake"]}')
    put = {"TableName": TABLE, "ConditionExpression": "attribute_not_exists(pk)"}
    answer = refused("ConditionalCheckFailedException", client.put_item, Item=key("lost", "LOCK"), **put)
    check(answer["ResponseMetadata"]["RetryAttempts"], 1, "retries")


def failed_transaction():
    answer = refused(
        "TransactionCanceledException",
        client.transact_write_items,
        TransactItems=[
            {"Put": {"TableName": TABLE, "Item": key("lock", "META")}},
            {
                "Delete": {
                    "TableName": TABLE,
                    "Key": key("lock", "LOCK"),
                    "ConditionExpression": "#o = :o",
                    "ExpressionAttributeNames": {"#o": "owner"},
                    "ExpressionAttributeValues": {":o": s("second")},
                    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                }
            },
        ],
    )
    first, second = answer["CancellationReasons"]
    check(first["Code"], "None", "first reason")
    check(second["Code"], "ConditionalCheckFailed", "second reason")
    check(second["Item"], {**key("lock", "LOCK"), "owner": s("first")}, "item of the second reason")
    half = client.get_item(TableName=TABLE, Key=key("lock", "META"))
    check("Item" in half, False, "half of the transaction took effect")


def paginated_query():
    for i in range(25):
        client.put_item(TableName=TABLE, Item=key("many", f"{i:02}"))
    pages = client.get_paginator("query").paginate(
        TableName=TABLE,
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": s("many")},
        PaginationConfig={"PageSize": 10},
    )
    pages = [[item["sk"]["S"] for item in page["Items"]] for page in pages]
    check([len(page) for page in pages], [10, 10, 5], "rows on each page")
    check(sum(pages, []), [f"{i:02}" for i in range(25)], "sort keys")


def paginated_scan():
    pages = client.get_paginator("scan").paginate(TableName=TABLE, PaginationConfig={"PageSize": 10})
    rows = [item for page in pages for item in page["Items"] if item["pk"]["S"] == "many"]
    check(len(rows), 25, "rows")


def batches():
    keys = [key("batch", f"{i:02}") for i in range(20)]
    answer = client.batch_write_item(RequestItems={TABLE: [{"PutRequest": {"Item": k}} for k in keys]})
    check(answer["UnprocessedItems"], {}, "unprocessed items")
    answer = client.batch_get_item(RequestItems={TABLE: {"Keys": keys}})
    check(len(answer["Responses"][TABLE]), 20, "rows")
    check(answer["UnprocessedKeys"], {}, "unprocessed keys")


def stream():
    """A row that comes, and that TTL deletes."""
    view = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    setting = {"TableName": TABLE, "StreamSpecification": view}
    arn = client.update_table(**setting)["TableDescription"]["LatestStreamArn"]
    refused("ValidationException", client.update_table, **setting)
    row = {**key("expired", "stream"), "ttl": {"N": os.environ["A_MINUTE_AGO"]}}
    client.put_item(TableName=TABLE, Item=row)
    control("/sweep")
    shards = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
    start = {"StreamArn": arn, "ShardId": shards[0]["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
    page = streams.get_records(ShardIterator=streams.get_shard_iterator(**start)["ShardIterator"])
    check([r["eventName"] for r in page["Records"]], ["INSERT", "REMOVE"], "events")
    inserted, removed = page["Records"]
    check(inserted["dynamodb"]["NewImage"], row, "new image")
    check(removed["dynamodb"]["OldImage"], row, "old image")
    check(removed["userIdentity"], {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}, "who deleted it")
    check(streams.get_records(ShardIterator=page["NextShardIterator"])["Records"], [], "records after the last one")


def statements():
    """PartiQL, with and without parameters, in a transaction, and by pages."""
    insert = f"INSERT INTO \"{TABLE}\" VALUE {{'pk': 'ql', 'sk': ?, 'n': 1}}"
    client.execute_statement(Statement=insert, Parameters=[s("a")])
    again = {"Statement": f"INSERT INTO \"{TABLE}\" VALUE {{'pk': 'ql', 'sk': 'a'}}"}
    refused("DuplicateItemException", client.execute_statement, **again)
    client.execute_transaction(
        TransactStatements=[
            {"Statement": f"INSERT INTO \"{TABLE}\" VALUE {{'pk': 'ql', 'sk': '{i}'}}"} for i in ("b", "c")
        ]
    )
    read = {"Statement": f"SELECT sk FROM \"{TABLE}\" WHERE pk = 'ql' ORDER BY sk DESC", "Limit": 2}
    first = client.execute_statement(**read)
    rest = client.execute_statement(NextToken=first["NextToken"], **read)
    check([r["sk"]["S"] for r in first["Items"] + rest["Items"]], ["c", "b", "a"], "sort keys")
    answers = client.batch_execute_statement(
        Statements=[{"Statement": f"SELECT n FROM \"{TABLE}\" WHERE pk = 'ql' AND sk = '{i}'"} for i in ("a", "none")]
    )["Responses"]
    check([a.get("Item") for a in answers], [{"n": {"N": "1"}}, None], "answers of a batch")


def backups():
    """A backup has what was there, and a table that is made from it, too."""
    rows = client.scan(TableName=TABLE, Select="COUNT")["Count"]
    arn = client.create_backup(TableName=TABLE, BackupName="before")["BackupDetails"]["BackupArn"]
    client.put_item(TableName=TABLE, Item=key("later", "x"))
    client.restore_table_from_backup(TargetTableName=TABLE + "-restored", BackupArn=arn)
    client.get_waiter("table_exists").wait(TableName=TABLE + "-restored")
    check(client.scan(TableName=TABLE + "-restored", Select="COUNT")["Count"], rows, "rows of the restored table")
    client.delete_table(TableName=TABLE + "-restored")
    check(client.list_backups(TableName=TABLE)["BackupSummaries"][0]["BackupArn"], arn, "backup")
    client.delete_backup(BackupArn=arn)
    client.delete_item(TableName=TABLE, Key=key("later", "x"))


def global_table():
    """A replica in another region has each write, and takes writes of its own."""
    there = boto3.client(
        "dynamodb", endpoint_url=os.environ["ENDPOINT"], region_name="eu-west-1",
        aws_access_key_id="snake", aws_secret_access_key="secret",
    )
    client.update_table(TableName=TABLE, ReplicaUpdates=[{"Create": {"RegionName": "eu-west-1"}}])
    replicas = client.describe_table(TableName=TABLE)["Table"]["Replicas"]
    check("eu-west-1" in [r["RegionName"] for r in replicas], True, "a replica in eu-west-1")
    for at, other, sk in ((client, there, "here"), (there, client, "there")):
        at.put_item(TableName=TABLE, Item=key("global", sk))
        control("/replicate")
        check("Item" in other.get_item(TableName=TABLE, Key=key("global", sk)), True, "a row in the other region")


def packed_requests():
    """Packed with gzip and deflate, as proxies and tuned clients send them."""
    body = b'{"TableName": "boto3", "Key": {"pk": {"S": "batch"}, "sk": {"S": "00"}}}'
    for encoding, packed in (("gzip", gzip.compress(body)), ("deflate", zlib.compress(body))):
        headers = {
            "Content-Type": "application/x-amz-json-1.0",
            "Content-Encoding": encoding,
            "X-Amz-Target": "DynamoDB_20120810.GetItem",
            "Authorization": "AWS4-HMAC-SHA256 Credential=snake/20260101/us-east-1/dynamodb/aws4_request, "
                             "SignedHeaders=host, Signature=0",
        }
        request = urllib.request.Request(os.environ["ENDPOINT"], packed, headers)
        with urllib.request.urlopen(request) as response:
            check(json.load(response)["Item"], key("batch", "00"), encoding)
            check(response.headers["Server"], "Server", "server")
    client.put_item(TableName=TABLE, Item={**key("batch", "00"), "text": s("x" * 9000)})
    request.add_header("Accept-Encoding", "gzip")
    with urllib.request.urlopen(request) as response:
        check(response.headers["Content-Encoding"], "gzip", "a long answer")
        check(len(json.loads(gzip.decompress(response.read()))["Item"]["text"]["S"]), 9000, "its text")


for step, needs in (
    (create_table, "CreateTable"),
    (ttl, "UpdateTimeToLive"),
    (conditional_put, "PutItem"),
    (legacy_parameters, "PutItem"),
    (lost_response, "PutItem"),
    (failed_transaction, "TransactWriteItems"),
    (paginated_query, "Query"),
    (paginated_scan, "Scan"),
    (batches, "BatchGetItem"),
    (stream, "GetRecords"),
    (statements, "ExecuteStatement"),
    (packed_requests, "GetItem"),
    (backups, "CreateBackup"),
    (global_table, "UpdateTable"),
):
    name = step.__name__.replace("_", " ")
    if needs not in os.environ["OPERATIONS"].split():
        print("boto3: not supported yet:", name)
        continue
    try:
        step()
    except Exception as e:  # whatever it is, say in which step
        sys.exit(f"boto3: {name}: {e!r}")
    print("boto3:", name)
