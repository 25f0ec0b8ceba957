"""Sources of a group that fit a question: those of the topics whose example questions are most like it in meaning.

Measured on questions that others wrote: evals/sources/choice.py, figures in evals/reports/sources.md.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from marchwarden.source_table import SOURCES
from marchwarden.text.embedding import Embedder

# Topics whose likeness is this much below the best one's are searched too. Chosen from .01, .02 and .03 by
# evals/sources/choice.py.
MARGIN = 0.01
# Examples of a topic whose likeness is averaged, the nearest ones. A guess.
_NEAREST = 3

EXAMPLES: dict[str, tuple[str, ...]] = {
    "programming": (
        "How do I parse a date string in Python?",
        "What does this compiler error mean?",
        "How can I speed up a slow SQL query?",
        "Why does my React component render twice?",
        "How do I configure nginx as a reverse proxy?",
        "How to undo a commit that was pushed?",
        "Which command lists open ports on Linux?",
        "How do I fix a null pointer exception in Java?",
        "What is the difference between a list and a tuple?",
        "How do I install a package with pip behind a proxy?",
    ),
    "medicine": (
        "Does aspirin lower the risk of colorectal cancer?",
        "Is laparoscopic surgery safer than open surgery in elderly patients?",
        "What is the prevalence of diabetes among adolescents?",
        "Do statins reduce mortality after stroke?",
        "Which genes are associated with Alzheimer's disease?",
        "How effective is the influenza vaccine in children?",
        "Does vitamin D supplementation prevent fractures?",
        "What are the side effects of metformin?",
        "Is serum protein a prognostic marker in breast cancer?",
        "What causes antibiotic resistance in bacteria?",
    ),
    "science": (
        "What papers study attention in neural networks?",
        "How is dark matter distributed in galaxy clusters?",
        "Which algorithms solve sparse linear systems in parallel?",
        "What is the state of the art in quantum error correction?",
        "How do large language models reason about code?",
        "Research on the convergence of stochastic gradient descent",
        "What evidence is there for room-temperature superconductivity?",
        "Methods for retrieval of information from large document collections",
        "How does climate change affect ocean circulation?",
        "Studies of memory consolidation during sleep",
    ),
    "technology": (
        "What do developers think of the new MacBook?",
        "Why did the startup shut down?",
        "Is Rust replacing C++ in industry?",
        "Opinions on remote work at software companies",
        "How was the data breach at the company discovered?",
        "Which note-taking apps are recommended?",
        "What are people saying about the new AI model?",
        "Experiences with self-hosting email",
    ),
    "general": (
        "Who was the first president of the country?",
        "Which film won the award that year?",
        "When was the castle built?",
        "What is the capital of Australia?",
        "Where was the singer born?",
        "How tall is the tower?",
        "What are ideal crops for a garden?",
        "Which team won the championship in 2014?",
        "What does the museum exhibit?",
        "How much does the product cost?",
        "How do I get from the airport to the city?",
        "What year did the war begin?",
        "Which vegetables grow well in shade?",
        "What is the population of the town?",
    ),
}
"""Questions of each topic, written before any was measured."""


def topics_of(questions: Sequence[str], embedder: Embedder) -> list[dict[str, float]]:
    """Return the likeness of each question to each topic, 0–1. Blocks for 30 ms a new text."""
    every = [(topic, example) for topic, examples in EXAMPLES.items() for example in examples]
    found = []
    for row in embedder.likeness(questions, [example for _, example in every]):
        near: dict[str, list[float]] = {topic: [] for topic in EXAMPLES}
        for (topic, _), likeness in zip(every, row, strict=True):
            near[topic].append(likeness)
        found.append({topic: sum(sorted(each)[-_NEAREST:]) / _NEAREST for topic, each in near.items()})
    return found


def choose_sources(question: str, names: Sequence[str], embedder: Embedder | None) -> Collection[int]:
    """Return the places in `names` of the sources that fit.

    Where meanings can't be compared, all do but forums, which have something on every word.
    """
    if embedder is None:
        return [place for place, name in enumerate(names) if SOURCES[name].kind != "community"]
    # The likeliest topic of the question, and those close to it.
    (likeness,) = topics_of([question], embedder)
    best = max(likeness.values())
    topics = {topic for topic, each in likeness.items() if each >= best - MARGIN}
    return [
        place for place, name in enumerate(names) if not (own := SOURCES[name].topics) or topics.intersection(own)
    ]
