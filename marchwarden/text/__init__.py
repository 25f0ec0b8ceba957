"""Text: sentences, terms, ranking, embeddings."""
