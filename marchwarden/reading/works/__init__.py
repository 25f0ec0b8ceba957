"""What pages and registries say of scholarly works: records, sections, notices."""
