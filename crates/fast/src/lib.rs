//! FAST 1.1 (FIX Adapted for STreaming): templates, decoder and encoder.
