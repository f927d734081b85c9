"""The S3 fake through boto3: each operation, the conditions that boto3 knows, and errors as boto3 names them."""

import io
import os
import urllib.request

import boto3
from botocore.exceptions import ClientError

s3 = boto3.client("s3", endpoint_url=os.environ["S3"], region_name="us-east-1",
                  aws_access_key_id="boto3", aws_secret_access_key="any")


def want(name, got, expected):
    if got != expected:
        raise SystemExit(f"clients: boto3 on S3: {name}: got {got!r}, want {expected!r}")


def refusal(call, **arguments):
    try:
        call(**arguments)
    except ClientError as e:
        return e.response["ResponseMetadata"]["HTTPStatusCode"], e.response["Error"]["Code"]
    return None


bucket, key = "boto3-bodies", "home & garden/é"
want("no bucket", refusal(s3.put_object, Bucket=bucket, Key=key, Body=b"x"), (404, "NoSuchBucket"))
s3.create_bucket(Bucket=bucket)
put = s3.put_object(Bucket=bucket, Key=key, Body=b"Hello", ContentType="text/html", Metadata={"generation": "7"})
want("ETag", put["ETag"], '"8b1a9953c4611296a827abf8c47804d7"')
got = s3.get_object(Bucket=bucket, Key=key)
want("body", got["Body"].read(), b"Hello")
want("metadata", got["Metadata"], {"generation": "7"})
want("time in whole seconds", got["LastModified"].microsecond, 0)
want("range", s3.get_object(Bucket=bucket, Key=key, Range="bytes=1-2")["Body"].read(), b"el")
want("length", s3.head_object(Bucket=bucket, Key=key)["ContentLength"], 5)
want("not modified", refusal(s3.get_object, Bucket=bucket, Key=key, IfNoneMatch=put["ETag"]), (304, "304"))
want("other ETag", refusal(s3.get_object, Bucket=bucket, Key=key, IfMatch='"no"'), (412, "PreconditionFailed"))
want("missing", refusal(s3.get_object, Bucket=bucket, Key="none"), (404, "NoSuchKey"))
want("missing head", refusal(s3.head_object, Bucket=bucket, Key="none"), (404, "404"))
want("range after the end", refusal(s3.get_object, Bucket=bucket, Key=key, Range="bytes=9-"), (416, "InvalidRange"))

# Conditional writes, also from a boto3 of before 2024, which has no arguments for them.
def create_only(request, **_):
    request.headers["If-None-Match"] = "*"

s3.meta.events.register("before-sign.s3.PutObject", create_only)
want("put if absent, and it is not", refusal(s3.put_object, Bucket=bucket, Key=key, Body=b"x"),
     (412, "PreconditionFailed"))
want("put if absent", refusal(s3.put_object, Bucket=bucket, Key="new", Body=b"x"), None)
s3.meta.events.unregister("before-sign.s3.PutObject", create_only)

large = b"x" * (5 << 20)
s3.upload_fileobj(io.BytesIO(large), bucket, "large")
want("large", s3.get_object(Bucket=bucket, Key="large")["Body"].read(), large)
pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, PaginationConfig={"PageSize": 1})
want("list", [o["Key"] for page in pages for o in page["Contents"]], [key, "large", "new"])
want("folders", s3.list_objects_v2(Bucket=bucket, Delimiter="/")["CommonPrefixes"], [{"Prefix": "home & garden/"}])
parts = b"0123456789" * (2 << 20)
s3.upload_fileobj(io.BytesIO(parts), bucket, "parts")
want("in parts", s3.get_object(Bucket=bucket, Key="parts")["Body"].read(), parts)
s3.copy({"Bucket": bucket, "Key": "parts"}, bucket, "copied")
want("a copy in parts", s3.head_object(Bucket=bucket, Key="copied")["ContentLength"], len(parts))
want("location", s3.get_bucket_location(Bucket=bucket)["LocationConstraint"], None)
want("list, the old way", [o["Key"] for o in s3.list_objects(Bucket=bucket)["Contents"]],
     ["copied", key, "large", "new", "parts"])
url = s3.generate_presigned_url("put_object", Params={"Bucket": bucket, "Key": "new"})
with urllib.request.urlopen(urllib.request.Request(url, data=b"signed", method="PUT")) as answer:
    want("presigned", answer.status, 200)
want("presigned body", s3.get_object(Bucket=bucket, Key="new")["Body"].read(), b"signed")
for extra in ("parts", "copied"):
    s3.delete_object(Bucket=bucket, Key=extra)
gone = s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": key}, {"Key": "large"}, {"Key": "none"}]})
want("deleted", [d["Key"] for d in gone["Deleted"]], [key, "large", "none"])
want("not empty", refusal(s3.delete_bucket, Bucket=bucket), (409, "BucketNotEmpty"))
s3.delete_object(Bucket=bucket, Key="new")
s3.delete_bucket(Bucket=bucket)
print("clients: boto3 on S3")
