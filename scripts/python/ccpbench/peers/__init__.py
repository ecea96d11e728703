"""Solvers of others, as adapters: scripts/peers/README.md. They need scipy, and what they call."""
