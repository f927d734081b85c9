"""The cache of cache.py as a node that keeps its bodies in S3, through boto3."""
import isr_sim  # before anything else

import sys

import boto3
from cache import Cache


class Bodies:
    def __init__(self, init):
        self.s3 = boto3.client("s3", **isr_sim.boto3_options(init))
        self.bucket = init["bucket"]

    def put(self, name, body):
        self.s3.put_object(Bucket=self.bucket, Key=name, Body=body, ContentType="text/html")

    def get(self, name):
        try:
            return self.s3.get_object(Bucket=self.bucket, Key=name)["Body"].read().decode()
        except self.s3.exceptions.NoSuchKey:
            return None


class Elsewhere(Bodies):
    """Stores the bodies under other names than the rows lead to."""

    def put(self, name, body):
        super().put(name + ".html", body)


class Late(Cache):
    """Stores a body after the row that leads to it."""

    def commit_generation(self, key, token, at, page):
        done = super().commit_generation(key, token, at, page)
        if done:
            self.bodies.store()
        return done


class Waiting(Bodies):
    """The bodies of Late: one waits until it is stored."""

    def put(self, name, body):
        self.waiting = name, body

    def store(self):
        super().put(*self.waiting)


def create(init):
    late = "late" in sys.argv
    bodies = (Waiting if late else Elsewhere if "elsewhere" in sys.argv else Bodies)(init)
    return (Late if late else Cache)(
        isr_sim.boto3_options(init), init["table"], init["tenant"], init["config"], bodies, isr_sim.origin)


isr_sim.node(create, ["get"])
