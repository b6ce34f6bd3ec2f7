# A GPU that nobody sells: the documentation shows it, the tests load it.
inherit = a100
name = Half an A100                        # made up
sms = 54                                   # half of 108
memory_bytes = 21474836480
smem_per_sm_bytes = 65536                  # no more than a T4
smem_per_cta_optin_bytes = 64512
smem_carveouts_kib = 0 16 32 64
l2_bytes = unknown
