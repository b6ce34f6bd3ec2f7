# Manual pages and other documents.
