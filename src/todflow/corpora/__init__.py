"""The corpora: fetching the releases and turning them into tables of turns."""
