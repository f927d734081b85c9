// A page cache on DynamoDB: META is the page, LOCK says who renders it.
import {
  ConditionalCheckFailedException, DeleteItemCommand, GetItemCommand, PutItemCommand, type DynamoDBClient,
} from '@aws-sdk/client-dynamodb';

export const TableName = 'pages';
const key = (sk: 'META' | 'LOCK') => ({ pk: { S: 'CACHE#home' }, sk: { S: sk } });

async function read(db: DynamoDBClient): Promise<string | undefined> {
  const { Item } = await db.send(new GetItemCommand({ TableName, Key: key('META'), ConsistentRead: true }));
  return Item?.body?.S;
}

// Returns the page. With lookAgain it reads META a second time, under its lock, and renders only if there is none.
export async function get(db: DynamoDBClient, render: () => string, lookAgain: boolean): Promise<string | undefined> {
  let page = await read(db);
  if (page !== undefined) return page;
  try {
    const ConditionExpression = 'attribute_not_exists(pk)';
    await db.send(new PutItemCommand({ TableName, Item: key('LOCK'), ConditionExpression }));
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined; // another reader renders it
    throw error;
  }
  page = lookAgain ? await read(db) : undefined;
  if (page === undefined) {
    page = render();
    await db.send(new PutItemCommand({ TableName, Item: { ...key('META'), body: { S: page } } }));
  }
  await db.send(new DeleteItemCommand({ TableName, Key: key('LOCK') }));
  return page;
}
