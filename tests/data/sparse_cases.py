"""Sparse tensors for recordings, made alike by PyTorch and by Flambeau."""


def cases(torch):
    dense = torch.tensor([[1.5, 0, 2, 0], [0, 0, -3, 0]])
    eye = torch.eye(4)
    large = torch.arange(1200.0).reshape(40, 30) % 7
    return {
        "coo": dense.to_sparse(),
        "uncoalesced": torch.sparse_coo_tensor([[0, 2, 2]], [1.0, 2.0, 0.5], (4,)),
        "hybrid": dense.to_sparse(1),
        "scalar": torch.sparse_coo_tensor(torch.empty(0, 1), [3.0], ()),
        "empty": torch.zeros(2, 3, layout=torch.sparse_coo),
        "double": dense.double().to_sparse(),
        "integers": dense.long().to_sparse(),
        "bools": (dense != 0).to_sparse(),
        "complex": (dense * (1 + 2j)).to_sparse(),
        "leaf": dense.to_sparse().requires_grad_(),
        "csr": dense.to_sparse_csr(),
        "csc": dense.to_sparse_csc(),
        "batched": torch.stack([dense, dense * 2]).to_sparse_csr(),
        "bsr": eye.to_sparse_bsr((2, 2)),
        "bsc": eye.double().to_sparse_bsc((2, 2)),
        "empty_csr": torch.zeros(2, 3, layout=torch.sparse_csr),
        "large": large.to_sparse(),
        "large_csr": large.to_sparse_csr(),
    }
