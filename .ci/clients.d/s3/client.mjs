// The S3 fake through the AWS SDK for JavaScript v3: streams, presigned URLs, uploads in parts, copies and lists.
import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AbortMultipartUploadCommand, CopyObjectCommand, CreateBucketCommand, CreateMultipartUploadCommand,
  DeleteBucketCommand, DeleteObjectsCommand, GetBucketLocationCommand, GetObjectCommand, HeadObjectCommand,
  ListMultipartUploadsCommand, ListObjectsCommand, paginateListObjectsV2, PutObjectCommand, S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';

const { S3 } = process.env;
const Bucket = 'js-bodies';
const client = new S3Client({
  endpoint: S3, region: 'us-east-1', forcePathStyle: true,
  credentials: { accessKeyId: 'script', secretAccessKey: 'secret' },
});
const get = async (Key) => (await client.send(new GetObjectCommand({ Bucket, Key }))).Body.transformToString();
const folder = await mkdtemp(join(tmpdir(), 'clients-'));

// refused awaits a call that must fail, and returns the name of its error.
async function refused(call) {
  try {
    await call;
  } catch (e) {
    return e.name;
  }
  throw new Error('a call succeeded that must not');
}

try {
  await client.send(new CreateBucketCommand({ Bucket }));
  assert.equal((await client.send(new GetBucketLocationCommand({ Bucket }))).LocationConstraint, undefined);

  // A stream, of known length and of one that the SDK does not know, is sent in chunks with a trailer.
  const file = join(folder, 'body');
  const text = 'x'.repeat(300_000);
  await writeFile(file, text);
  await client.send(new PutObjectCommand({ Bucket, Key: 'stream', Body: createReadStream(file) }));
  assert.equal(await get('stream'), text);
  await client.send(new PutObjectCommand({
    Bucket, Key: 'stream', Body: createReadStream(file), ContentLength: text.length, ContentType: 'text/html',
  }));
  assert.equal(await get('stream'), text);
  assert.equal((await client.send(new HeadObjectCommand({ Bucket, Key: 'stream' }))).ContentType, 'text/html');

  // Presigned URLs, used by somebody without an SDK.
  const put = await getSignedUrl(client, new PutObjectCommand({ Bucket, Key: 'signed' }));
  assert.ok(put.includes('x-amz-checksum-crc32='), put);
  assert.equal((await fetch(put, { method: 'PUT', body: 'Hello' })).status, 200);
  const signed = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: 'signed' }));
  assert.equal(await (await fetch(signed)).text(), 'Hello');

  // An upload in parts, and a copy of its object.
  const large = Buffer.alloc(12 << 20, 'large');
  await writeFile(file, large);
  const made = await new Upload({ client, params: { Bucket, Key: 'large', Body: createReadStream(file) } }).done();
  assert.match(made.ETag, /-3"$/);
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: 'large' }));
  assert.ok(Buffer.from(await Body.transformToByteArray()).equals(large));
  await client.send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/signed` }));
  assert.equal(await get('copy'), 'Hello');
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'left' }));
  assert.equal((await client.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads.length, 1);
  await client.send(new AbortMultipartUploadCommand({ Bucket, Key: 'left', UploadId }));
  const abort = new AbortMultipartUploadCommand({ Bucket, Key: 'left', UploadId });
  assert.equal(await refused(client.send(abort)), 'NoSuchUpload');

  // Too large for one request.
  const huge = new PutObjectCommand({ Bucket, Key: 'huge', Body: Buffer.alloc(17 << 20) });
  assert.equal(await refused(client.send(huge)), 'EntityTooLarge');

  const { Contents } = await client.send(new ListObjectsCommand({ Bucket }));
  assert.deepEqual(Contents.map((o) => o.Key), ['copy', 'large', 'signed', 'stream']);
  const keys = [];
  for await (const page of paginateListObjectsV2({ client, pageSize: 3 }, { Bucket })) {
    keys.push(...page.Contents.map((o) => o.Key));
  }
  assert.deepEqual(keys, ['copy', 'large', 'signed', 'stream']);
  await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: keys.map((Key) => ({ Key })) } }));
  await client.send(new DeleteBucketCommand({ Bucket }));
} finally {
  await rm(folder, { recursive: true });
}
console.log('clients: the AWS SDK for JavaScript on S3');
