"""dsh-protocol: read, check and rebuild DeepSeek Harness session logs."""
