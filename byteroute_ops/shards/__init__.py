"""Files of rows: Parquet and Avro, written with reproducible bytes and read back in bounded memory."""

from .reading import ShardReader as ShardReader
from .reading import open_shard as open_shard
from .reading import read_shard as read_shard
from .rolling import FileReport as FileReport
from .rolling import RollingWriter as RollingWriter
from .rolling import write_table as write_table
from .writing import COMPRESSIONS as COMPRESSIONS
from .writing import HashingStream as HashingStream
from .writing import Kind as Kind
from .writing import ShardWriter as ShardWriter
from .writing import open_shard_writer as open_shard_writer
