"""What turns texts into vectors; each kind of model is an extra, imported on first use."""
