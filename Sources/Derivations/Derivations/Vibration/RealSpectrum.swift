internal import Glibc

/// The spectrum of 256 to 4,096 real numbers, as powers: a Fourier transform of half as many complex numbers, radix 2.
///
/// Tables are made once. It stands beside numpy's and FFTW's in the benchmark: what it takes is far below a percent of a core
/// at any rate that an accelerometer has, so no library is linked for it.
struct RealSpectrum: Sendable {
    /// How many numbers go in.
    let size: Int
    private let half: Int
    private let order: [Int]
    /// For each stage one after the other: cosines and sines.
    private let cosines: [Double]
    private let sines: [Double]
    /// For taking the two halves apart.
    private let splitCosines: [Double]
    private let splitSines: [Double]
    private var real: [Double]
    private var imaginary: [Double]

    /// Makes one for `size` numbers, a power of two from 4.
    init(size: Int) {
        precondition(size >= 4 && size & (size - 1) == 0, "the size of a spectrum is a power of two")
        self.size = size
        let half = size / 2
        self.half = half
        let bits = half.trailingZeroBitCount
        order = (0..<half).map { place in
            var reversed = 0
            for bit in 0..<bits where place & (1 << bit) != 0 { reversed |= 1 << (bits - 1 - bit) }
            return reversed
        }
        var cosines: [Double] = []
        var sines: [Double] = []
        var length = 2
        while length <= half {
            for place in 0..<(length / 2) {
                cosines.append(cos(2 * .pi * Double(place) / Double(length)))
                sines.append(-sin(2 * .pi * Double(place) / Double(length)))
            }
            length *= 2
        }
        self.cosines = cosines
        self.sines = sines
        splitCosines = (0...half).map { cos(2 * .pi * Double($0) / Double(size)) }
        splitSines = (0...half).map { -sin(2 * .pi * Double($0) / Double(size)) }
        real = Array(repeating: 0, count: half)
        imaginary = Array(repeating: 0, count: half)
    }

    /// Adds the squared magnitude of each of the `size / 2 + 1` frequencies to `powers`.
    mutating func add(_ numbers: [Double], to powers: inout [Double]) {
        precondition(
            numbers.count == size && powers.count == half + 1,
            "a spectrum takes as many numbers as it was made for"
        )
        for place in 0..<half {
            let from = order[place]
            real[place] = numbers[2 * from]
            imaginary[place] = numbers[2 * from + 1]
        }
        transform()
        powers[0] += (real[0] + imaginary[0]) * (real[0] + imaginary[0])
        powers[half] += (real[0] - imaginary[0]) * (real[0] - imaginary[0])
        for place in 1..<half {
            let mirror = half - place
            let evenReal = 0.5 * (real[place] + real[mirror])
            let evenImaginary = 0.5 * (imaginary[place] - imaginary[mirror])
            let oddReal = 0.5 * (imaginary[place] + imaginary[mirror])
            let oddImaginary = -0.5 * (real[place] - real[mirror])
            let c = splitCosines[place]
            let s = splitSines[place]
            let outReal = evenReal + c * oddReal - s * oddImaginary
            let outImaginary = evenImaginary + c * oddImaginary + s * oddReal
            powers[place] += outReal * outReal + outImaginary * outImaginary
        }
    }

    private mutating func transform() {
        let count = half
        let cosines = cosines
        let sines = sines
        real.withUnsafeMutableBufferPointer { re in
            imaginary.withUnsafeMutableBufferPointer { im in
                var table = 0
                var length = 2
                while length <= count {
                    let middle = length / 2
                    var start = 0
                    while start < count {
                        for place in 0..<middle {
                            let low = start + place
                            let high = low + middle
                            let c = cosines[table + place]
                            let s = sines[table + place]
                            let turnedReal = re[high] * c - im[high] * s
                            let turnedImaginary = re[high] * s + im[high] * c
                            re[high] = re[low] - turnedReal
                            im[high] = im[low] - turnedImaginary
                            re[low] += turnedReal
                            im[low] += turnedImaginary
                        }
                        start += length
                    }
                    table += middle
                    length *= 2
                }
            }
        }
    }
}
