"""datatrove's way to tokenize: JsonlReader and DocumentTokenizer in its local executor.

python -m benchmarks.speed.datatrove_way FOLDER TOKENIZER_JSON OUTPUT WORKERS
"""

import sys

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.tokens import DocumentTokenizer


def main() -> None:
    folder, tokenizer, output, workers = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    LocalPipelineExecutor(
        pipeline=[
            JsonlReader(folder, glob_pattern="*.jsonl.zst", doc_progress=False),
            DocumentTokenizer(
                output_folder=output, tokenizer_name_or_path=tokenizer, eos_token=None, shuffle_documents=False
            ),
        ],
        tasks=workers,
        workers=workers,
        logging_dir=f"{output}-logs",
    ).run()


if __name__ == "__main__":
    main()
