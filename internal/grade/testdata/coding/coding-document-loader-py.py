import json
from collections.abc import Iterator
from pathlib import Path

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document
from langchain_text_splitters import RecursiveCharacterTextSplitter


class TicketLoader(BaseLoader):
    """Loads tickets from a JSON Lines file, one document per ticket."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def lazy_load(self) -> Iterator[Document]:
        with self.path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                ticket = json.loads(line)
                yield Document(
                    id=ticket["id"],
                    page_content=f"{ticket['subject']}\n\n{ticket['text']}",
                    metadata={"source": f"{self.path}:{number}", "kind": "ticket"},
                )


splitter = RecursiveCharacterTextSplitter(chunk_size=800, chunk_overlap=100)
for doc in TicketLoader("tickets.jsonl").lazy_load():
    for chunk in splitter.split_documents([doc]):
        print(chunk.metadata["source"], len(chunk.page_content))
