"""NT: NetworkAttachmentDefinitions and Multus."""
