"""What everybody speaks of: plans, prices, the ledger, checked numbers. It imports nothing of this
package above it.
"""
