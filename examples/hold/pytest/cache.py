"""A page cache on DynamoDB: META is the page, LOCK says who renders it."""
from botocore.exceptions import ClientError

TABLE = "pages"


def key(sk):
    return {"pk": {"S": "CACHE#home"}, "sk": {"S": sk}}


def get(db, render, look_again):
    """Returns the page. With look_again it reads META a second time, under its lock, and renders only if there is
    none."""
    page = read(db)
    if page is not None:
        return page
    try:
        db.put_item(TableName=TABLE, Item={**key("LOCK")}, ConditionExpression="attribute_not_exists(pk)")
    except ClientError as error:
        if error.response["Error"]["Code"] == "ConditionalCheckFailedException":
            return None  # another reader renders it
        raise
    page = read(db) if look_again else None
    if page is None:
        page = render()
        db.put_item(TableName=TABLE, Item={**key("META"), "body": {"S": page}})
    db.delete_item(TableName=TABLE, Key=key("LOCK"))
    return page


def read(db):
    row = db.get_item(TableName=TABLE, Key=key("META"), ConsistentRead=True).get("Item")
    return row and row["body"]["S"]
