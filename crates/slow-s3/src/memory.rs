//! Buckets in memory.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use bytes::Bytes;
use futures_util::TryStreamExt;
use md5::{Digest, Md5};
use s3s::dto::*;
use s3s::{S3, S3Request, S3Response, S3Result, s3_error};

/// The most keys of one listing, as in S3.
const MAX_KEYS: usize = 1000;

/// Buckets by name.
#[derive(Debug, Default)]
pub struct Memory(Mutex<HashMap<String, Bucket>>);

/// Objects by key.
type Bucket = BTreeMap<String, Stored>;

#[derive(Clone, Debug)]
struct Stored {
    contents: Bytes,
    e_tag: String,
    modified: SystemTime,
}

impl Stored {
    fn new(contents: Bytes) -> Self {
        let digest = Md5::digest(&contents);
        Self {
            e_tag: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
            contents,
            modified: SystemTime::now(),
        }
    }

    fn tag(&self) -> ETag {
        ETag::Strong(self.e_tag.clone())
    }

    fn length(&self) -> Option<i64> {
        i64::try_from(self.contents.len()).ok()
    }

    /// Refuses a request that is about another version.
    fn check(&self, if_match: Option<&ETagCondition>) -> S3Result<()> {
        match if_match {
            Some(ETagCondition::ETag(tag)) if !tag.strong_cmp(&self.tag()) => {
                Err(s3_error!(PreconditionFailed))
            }
            _ => Ok(()),
        }
    }
}

impl Memory {
    /// Makes buckets, and in the first one `objects` objects of `size` bytes each.
    pub fn fill(&self, buckets: &[String], objects: usize, size: usize) {
        let mut all = self.lock();
        for bucket in buckets {
            all.entry(bucket.clone()).or_default();
        }
        let Some(first) = buckets.first().and_then(|first| all.get_mut(first)) else {
            return;
        };
        let stored = Stored::new(vec![b'x'; size].into());
        first.extend((0..objects).map(|index| {
            let key = format!("o/{:04}/{index:08}", index / 1000);
            (key, stored.clone())
        }));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Bucket>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, bucket: &str, run: impl FnOnce(&mut Bucket) -> S3Result<T>) -> S3Result<T> {
        match self.lock().get_mut(bucket) {
            Some(bucket) => run(bucket),
            None => Err(s3_error!(
                NoSuchBucket,
                "The specified bucket does not exist"
            )),
        }
    }

    fn get(&self, bucket: &str, key: &str) -> S3Result<Stored> {
        self.with(bucket, |objects| match objects.get(key) {
            Some(stored) => Ok(stored.clone()),
            None => Err(s3_error!(NoSuchKey, "The specified key does not exist.")),
        })
    }
}

#[async_trait::async_trait]
impl S3 for Memory {
    async fn create_bucket(
        &self,
        request: S3Request<CreateBucketInput>,
    ) -> S3Result<S3Response<CreateBucketOutput>> {
        self.lock().entry(request.input.bucket).or_default();
        Ok(S3Response::new(CreateBucketOutput::default()))
    }

    async fn head_bucket(
        &self,
        request: S3Request<HeadBucketInput>,
    ) -> S3Result<S3Response<HeadBucketOutput>> {
        self.with(&request.input.bucket, |_| {
            Ok(S3Response::new(HeadBucketOutput::default()))
        })
    }

    async fn get_object(
        &self,
        request: S3Request<GetObjectInput>,
    ) -> S3Result<S3Response<GetObjectOutput>> {
        let input = request.input;
        let stored = self.get(&input.bucket, &input.key)?;
        stored.check(input.if_match.as_ref())?;
        let length = stored.contents.len() as u64;
        let (contents, range) = match input.range {
            Some(range) => {
                let range = range.check(length)?;
                let text = format!("bytes {}-{}/{length}", range.start, range.end - 1);
                let part = usize::try_from(range.start).unwrap_or(0)
                    ..usize::try_from(range.end).unwrap_or(0);
                (stored.contents.slice(part), Some(text))
            }
            None => (stored.contents.clone(), None),
        };
        Ok(S3Response::new(GetObjectOutput {
            content_length: i64::try_from(contents.len()).ok(),
            body: Some(StreamingBlob::from(s3s::Body::from(contents))),
            content_range: range,
            e_tag: Some(stored.tag()),
            last_modified: Some(stored.modified.into()),
            ..GetObjectOutput::default()
        }))
    }

    async fn head_object(
        &self,
        request: S3Request<HeadObjectInput>,
    ) -> S3Result<S3Response<HeadObjectOutput>> {
        let stored = self.get(&request.input.bucket, &request.input.key)?;
        Ok(S3Response::new(HeadObjectOutput {
            content_length: stored.length(),
            e_tag: Some(stored.tag()),
            last_modified: Some(stored.modified.into()),
            ..HeadObjectOutput::default()
        }))
    }

    async fn put_object(
        &self,
        request: S3Request<PutObjectInput>,
    ) -> S3Result<S3Response<PutObjectOutput>> {
        let input = request.input;
        let mut contents = Vec::new();
        if let Some(mut body) = input.body {
            while let Some(piece) = body
                .try_next()
                .await
                .map_err(|_| s3_error!(IncompleteBody))?
            {
                contents.extend_from_slice(&piece);
            }
        }
        let stored = Stored::new(contents.into());
        let tag = stored.tag();
        self.with(&input.bucket, |objects| {
            if input
                .if_none_match
                .is_some_and(|condition| condition.is_any())
                && objects.contains_key(&input.key)
            {
                return Err(s3_error!(PreconditionFailed));
            }
            objects.insert(input.key, stored);
            Ok(())
        })?;
        Ok(S3Response::new(PutObjectOutput {
            e_tag: Some(tag),
            ..PutObjectOutput::default()
        }))
    }

    async fn copy_object(
        &self,
        request: S3Request<CopyObjectInput>,
    ) -> S3Result<S3Response<CopyObjectOutput>> {
        let input = request.input;
        let CopySource::Bucket { bucket, key, .. } = &input.copy_source else {
            return Err(s3_error!(NotImplemented));
        };
        let stored = self.get(bucket, key)?;
        let result = CopyObjectResult {
            e_tag: Some(stored.tag()),
            last_modified: Some(stored.modified.into()),
            ..CopyObjectResult::default()
        };
        self.with(&input.bucket, |objects| {
            objects.insert(input.key, stored);
            Ok(())
        })?;
        Ok(S3Response::new(CopyObjectOutput {
            copy_object_result: Some(result),
            ..CopyObjectOutput::default()
        }))
    }

    async fn delete_object(
        &self,
        request: S3Request<DeleteObjectInput>,
    ) -> S3Result<S3Response<DeleteObjectOutput>> {
        self.with(&request.input.bucket, |objects| {
            objects.remove(&request.input.key);
            Ok(S3Response::new(DeleteObjectOutput::default()))
        })
    }

    async fn delete_objects(
        &self,
        request: S3Request<DeleteObjectsInput>,
    ) -> S3Result<S3Response<DeleteObjectsOutput>> {
        let deleted = self.with(&request.input.bucket, |objects| {
            Ok(request
                .input
                .delete
                .objects
                .into_iter()
                .map(|object| {
                    objects.remove(&object.key);
                    DeletedObject {
                        key: Some(object.key),
                        ..DeletedObject::default()
                    }
                })
                .collect())
        })?;
        Ok(S3Response::new(DeleteObjectsOutput {
            deleted: Some(deleted),
            ..DeleteObjectsOutput::default()
        }))
    }

    async fn list_objects_v2(
        &self,
        request: S3Request<ListObjectsV2Input>,
    ) -> S3Result<S3Response<ListObjectsV2Output>> {
        let input = request.input;
        let prefix = input.prefix.clone().unwrap_or_default();
        let delimiter = input
            .delimiter
            .clone()
            .filter(|delimiter| !delimiter.is_empty());
        let max = input.max_keys.and_then(|max| usize::try_from(max).ok());
        let max = max.unwrap_or(MAX_KEYS).min(MAX_KEYS);
        let after = input
            .continuation_token
            .clone()
            .or(input.start_after.clone());
        let (contents, prefixes, next) = self.with(&input.bucket, |objects| {
            Ok(list(objects, &prefix, delimiter.as_deref(), after, max))
        })?;
        Ok(S3Response::new(ListObjectsV2Output {
            name: Some(input.bucket),
            prefix: Some(prefix),
            delimiter,
            max_keys: input.max_keys,
            key_count: i32::try_from(contents.len() + prefixes.len()).ok(),
            continuation_token: input.continuation_token,
            is_truncated: Some(next.is_some()),
            next_continuation_token: next,
            contents: Some(contents),
            common_prefixes: Some(prefixes),
            ..ListObjectsV2Output::default()
        }))
    }
}

/// Lists up to `max` objects and common prefixes after the name `after`. Returns the last name if
/// there are more.
fn list(
    objects: &Bucket,
    prefix: &str,
    delimiter: Option<&str>,
    after: Option<String>,
    max: usize,
) -> (Vec<Object>, Vec<CommonPrefix>, Option<String>) {
    let (mut contents, mut prefixes) = (Vec::new(), Vec::new());
    let mut last: Option<String> = None;
    let mut from = match after {
        Some(after) if after.as_str() > prefix => Bound::Excluded(after),
        _ => Bound::Included(prefix.to_owned()),
    };
    // A common prefix ends where its objects end.
    let skip = |common: &str| Bound::Excluded(format!("{common}{}", char::MAX));
    if let (Bound::Excluded(after), Some(delimiter)) = (&from, delimiter)
        && after.ends_with(delimiter)
    {
        from = skip(after);
    }
    loop {
        let next = objects.range((from, Bound::Unbounded)).next();
        let Some((key, stored)) = next.filter(|(key, _)| key.starts_with(prefix)) else {
            return (contents, prefixes, None);
        };
        if contents.len() + prefixes.len() == max {
            return (contents, prefixes, last);
        }
        let rest = &key[prefix.len()..];
        if let Some((name, delimiter)) = delimiter.and_then(|it| Some((rest.split_once(it)?.0, it)))
        {
            let common = format!("{prefix}{name}{delimiter}");
            from = skip(&common);
            last = Some(common.clone());
            prefixes.push(CommonPrefix {
                prefix: Some(common),
            });
        } else {
            from = Bound::Excluded(key.clone());
            last = Some(key.clone());
            contents.push(Object {
                key: Some(key.clone()),
                size: stored.length(),
                e_tag: Some(stored.tag()),
                last_modified: Some(stored.modified.into()),
                ..Object::default()
            });
        }
    }
}
