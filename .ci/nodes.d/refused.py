# A node whose requests are all refused or, with the argument accepted, all accepted. Each request is sent once.
import isr_sim  # before anything else

import sys

import boto3
from botocore.exceptions import ClientError

GRANTED = "accepted" in sys.argv


class Node:
    def __init__(self, init):
        self.table, self.bucket = init["table"], init["bucket"]
        self.db, self.s3 = (boto3.client(of, **isr_sim.boto3_options(init)) for of in ("dynamodb", "s3"))
        self.errors = []

    def ask(self, method, **args):
        try:
            method(**args)
        except ClientError as e:
            self.errors.append(e.response["Error"]["Code"])

    def get(self, key):
        row = {"Key": {"pk": {"S": "CACHE#a"}, "sk": {"S": "META"}}}
        condition = "attribute_%s(nobody)" % ("not_exists" if GRANTED else "exists")
        own = {"TableName": self.table, "ConditionExpression": condition}
        self.ask(self.db.put_item, Item=row["Key"], **own)
        self.ask(self.db.update_item, UpdateExpression="SET s3_key = :s",
                 ExpressionAttributeValues={":s": {"S": "s"}}, **row, **own)
        self.ask(self.db.transact_write_items, TransactItems=[{"Delete": {**row, **own}}])
        self.ask(self.db.get_item, TableName=self.table if GRANTED else "none", **row)
        self.ask(self.s3.put_object, Bucket=self.bucket if GRANTED else "none", Key="name", Body="body")
        self.ask(self.s3.get_object, Bucket=self.bucket, Key="name")
        return ",".join(self.errors), False


isr_sim.node(Node, ["get"])
