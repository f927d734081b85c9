// A node whose requests are all refused or, with the argument accepted, all accepted. Each request is sent once.
import { node } from 'isr-sim' // before anything else
import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { S3 } from '@aws-sdk/client-s3'

const granted = process.argv[2] === 'accepted'

node(({ client, table: TableName, bucket: Bucket }) => ({
  async get() {
    const [db, s3] = [new DynamoDB(client), new S3(client)]
    const Key = { pk: { S: 'CACHE#a' }, sk: { S: 'META' } }
    const ConditionExpression = granted ? 'attribute_not_exists(nobody)' : 'attribute_exists(nobody)'
    const errors: string[] = []
    const ask = async (what: Promise<unknown>) => { await what.catch((e: unknown) => errors.push((e as Error).name)) }
    await ask(db.putItem({ TableName, Item: Key, ConditionExpression }))
    const set = { UpdateExpression: 'SET s3_key = :s', ExpressionAttributeValues: { ':s': { S: 's' } } }
    await ask(db.updateItem({ TableName, Key, ConditionExpression, ...set }))
    await ask(db.transactWriteItems({ TransactItems: [{ Delete: { TableName, Key, ConditionExpression } }] }))
    await ask(db.getItem({ TableName: granted ? TableName : 'none', Key }))
    await ask(s3.putObject({ Bucket: granted ? Bucket : 'none', Key: 'name', Body: 'body' }))
    await ask(s3.getObject({ Bucket, Key: 'name' }).then(({ Body }) => Body?.transformToString()))
    return { body: errors.join(), fresh: false }
  },
}), ['get'])
