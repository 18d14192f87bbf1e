from langchain.chat_models import init_chat_model
from pydantic import BaseModel, Field


class Movie(BaseModel):
    """A film that is mentioned in the text."""

    title: str = Field(description="Title as printed on the poster")
    year: int | None = Field(description="Year of release, null when not stated")


model = init_chat_model("openai:gpt-5.5", temperature=0)
extractor = model.with_structured_output(Movie, include_raw=True)

for text in ("Inception came out in 2010.", "I liked Alien."):
    answer = extractor.invoke(text)
    if answer["parsing_error"] is None:
        movie = answer["parsed"]
        print(movie.title, movie.year, answer["raw"].usage_metadata)
    else:
        print("no data:", answer["parsing_error"])
