"""Helpers of DataPipes: files and streams, decoders, snapshots."""
